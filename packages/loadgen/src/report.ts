import { formatMs } from '@startgrid/cli/numbers.ts'
import { wrap } from '@startgrid/cli/text.ts'
import type { LoadPlan } from './plan.ts'
import type { Latency } from './recording.ts'
import type { LoadResult } from './result.ts'

/** A generator that is busy for more than this part of its time may be what limits a closed loop. */
const BUSY = 0.95

const COLUMNS = ['mean', 'p50', 'p90', 'p99', 'p999', 'max'] as const

/** What is loaded, in one line. */
export function title(
  url: string,
  { method = 'GET', path, connections, rate, durationMs }: LoadPlan,
): string {
  const more = typeof path === 'string' || path.length === 1 ? '' : ` and ${path.length - 1} more`
  const plural = connections === 1 ? '' : 's'
  const pace = rate === undefined ? '' : ` at ${integer(rate)} per second`
  return `${method} ${url}${more} with ${integer(connections)} connection${plural}${pace} for ${durationMs < 1_000 ? `${durationMs} ms` : `${durationMs / 1_000} s`}`
}

/** A result for a person, at most 80 columns wide. */
export function report(result: LoadResult): string {
  const { openLoop, requests, seconds, errors, statuses, handshakes, self } = result
  const rows: [string, string][] = [['rate', `${integer(result.rate)} responses per second`]]
  if (openLoop !== null) {
    const { offered, achieved } = openLoop
    const part = offered > 0 ? (100 * achieved) / offered : 100
    const sent = `achieved ${integer(achieved)} (${part.toFixed(1)} %)`
    rows.push(['offered', `${integer(offered)} per second, ${sent}`])
  }
  const waited = self.waitSeconds === null ? '' : `, ${self.waitSeconds.toFixed(2)} s without a core`
  rows.push(
    ['requests', `${integer(requests)} in ${seconds.toFixed(2)} s`],
    ['errors', counts(errors)],
    ['statuses', counts(statuses)],
    ...Object.entries(handshakes).map(([what, times]): [string, string] => [
      'tls',
      `${what}: ${integer(times)}`,
    ]),
    ['received', `${(result.bytes / 1e6).toFixed(1)} MB`],
    ['generator', `busy ${Math.round(100 * self.busy)} %${waited}`],
  )
  if (openLoop === null && self.busy > BUSY) rows.push(['', 'it may be the limit, not the server'])
  const text = rows.map(([name, value]) => `  ${name.padEnd(11)} ${value}\n`).join('')
  const bound = self.reason === null ? '' : `\n${wrap(`generator-bound: ${self.reason}.`)}\n`
  return `${text}\n${latencies(result)}${bound}`
}

function latencies({ requests, latency, service, lag }: LoadResult): string {
  if (requests === 0) return '  latency     no response\n'
  const line = (name: string, cells: readonly string[]) =>
    `  ${name.padEnd(11)}${cells.map((cell) => cell.padStart(10)).join('')}`
  const row = (name: string, values: Latency) =>
    `${line(
      name,
      COLUMNS.map((column) => formatMs(values[column])),
    )} ms\n`
  const header = line(
    '',
    COLUMNS.map((column) => (column === 'p999' ? 'p99.9' : column)),
  )
  const rows =
    lag === null
      ? row('latency', latency)
      : row('corrected', latency) + row('service', service) + row('lag', lag)
  return `${header}\n${rows}`
}

function counts(all: Readonly<Record<string, number>>): string {
  const present = Object.entries(all).filter(([, number]) => number > 0)
  return present.map(([name, number]) => `${name}: ${integer(number)}`).join(', ') || 'none'
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en')
}
