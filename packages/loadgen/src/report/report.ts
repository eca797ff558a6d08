import { formatDuration } from '@startgrid/cli/duration.ts'
import { wrap } from '@startgrid/cli/text.ts'
import type { LoadPlan } from '../engine/options.ts'
import { ERROR_KINDS, type Latency, type LoadResult } from './result.ts'

/** A generator that is busy for more than this part of its time may be what limits a closed loop. */
const BUSY = 0.95

const COLUMNS = ['mean', 'p50', 'p90', 'p99', 'p999', 'max'] as const

/** What is loaded, in one line. */
export function title(url: string, plan: LoadPlan): string {
  const { method = 'GET', path, connections, newConnections, rate, durationMs } = plan
  const paths = typeof path === 'string' ? 1 : path.length
  return [
    `${method} ${url}`,
    paths > 1 && ` and ${paths - 1} more`,
    ` with ${count(connections, newConnections ? 'new connection' : 'connection')}`,
    rate !== undefined && ` at ${integer(rate)} per second`,
    ` for ${formatDuration(durationMs)}`,
  ]
    .filter((part) => part !== false)
    .join('')
}

/** A result for a person, at most 80 columns wide. */
export function report(result: LoadResult): string {
  const { openLoop, requests, seconds, rate, errors, statuses, handshakes, bytes, self } = result
  const rows: [string, string][] = [['rate', `${integer(rate)} responses per second`]]
  if (openLoop !== null) rows.push(['offered', offered(openLoop.offered, openLoop.achieved)])
  rows.push(
    ['requests', `${integer(requests)} in ${seconds.toFixed(2)} s`],
    ['errors', counts(ERROR_KINDS.map((kind) => [kind, errors[kind]])) || 'none'],
    ['statuses', counts(Object.entries(statuses)) || 'none'],
    ...Object.entries(handshakes).map(([what, times]): [string, string] => [
      'tls',
      `${what}: ${integer(times)}`,
    ]),
    ['received', `${(bytes / 1e6).toFixed(1)} MB`],
  )
  if (result.checked > 0) rows.push(['compared', `${integer(result.checked)} responses`])
  rows.push(['generator', generator(result)])
  const text = rows.map(([name, value]) => `  ${name.padEnd(11)} ${value}\n`).join('')
  const bound = self.reason === null ? '' : `\n${wrap(`generator-bound: ${self.reason}.`)}\n`
  return `${text}\n${latencies(result)}${bound}`
}

function offered(due: number, sent: number): string {
  const part = due > 0 ? (100 * sent) / due : 100
  return `${integer(due)} per second, achieved ${integer(sent)} (${part.toFixed(1)} %)`
}

function latencies({ requests, openLoop, latency, service, lag }: LoadResult): string {
  if (requests === 0) return '  latency     no response\n'
  const header = line(
    '',
    COLUMNS.map((column) => (column === 'p999' ? 'p99.9' : column)),
  )
  const row = (name: string, values: Latency) =>
    `${line(
      name,
      COLUMNS.map((column) => milliseconds(values[column])),
    )} ms`
  if (openLoop === null || lag === null) return `${header}\n${row('latency', latency)}\n`
  const rows = [row('corrected', latency), row('service', service), row('lag', lag)]
  return `${header}\n${rows.join('\n')}\n`
}

function line(name: string, cells: readonly string[]): string {
  return `  ${name.padEnd(11)}${cells.map((cell) => cell.padStart(10)).join('')}`
}

function generator({ openLoop, self }: LoadResult): string {
  const parts = [`busy ${percent(self.busy)}`]
  if (self.waitSeconds !== null) parts.push(`${self.waitSeconds.toFixed(2)} s without a core`)
  const warning = openLoop === null && self.busy > BUSY
  return `${parts.join(', ')}${warning ? `\n${' '.repeat(14)}it may be the limit, not the server` : ''}`
}

function counts(entries: readonly (readonly [string, number])[]): string {
  const present = entries.filter(([, number]) => number > 0)
  return present.map(([name, number]) => `${name}: ${integer(number)}`).join(', ')
}

function count(number: number, noun: string): string {
  return `${integer(number)} ${noun}${number === 1 ? '' : 's'}`
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function percent(part: number): string {
  return `${Math.round(100 * part)} %`
}

/** Three digits, at most three of them after the point. */
function milliseconds(value: number): string {
  if (value >= 1_000) return integer(value)
  return value < 0.1 ? value.toFixed(3) : value.toPrecision(3)
}
