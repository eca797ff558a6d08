import { ERROR_KINDS, type LoadResult } from './result.ts'

/** Above this part of a core the generator may be what limits the rate. */
const BUSY = 0.95

/**
 * A result for a person, at most 80 columns wide (a long title aside).
 * @param title what was loaded
 */
export function report(title: string, result: LoadResult): string {
  const rows: [string, string][] = [
    ['rate', `${integer(result.rate)} requests per second`],
    ['requests', `${integer(result.requests)} in ${result.seconds.toFixed(2)} s`],
    ['errors', counts(ERROR_KINDS.map((kind) => [kind, result.errors[kind]])) || 'none'],
    ['statuses', counts(Object.entries(result.statuses)) || 'none'],
    ['received', `${(result.bytes / 1e6).toFixed(1)} MB`],
    ['latency', latency(result)],
    ['generator', `${Math.round(result.cpu.utilisation * 100)} % of one core${caution(result)}`],
  ]
  return `${title}\n\n${rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}\n`).join('')}`
}

function latency({ requests, latency: { mean, p50, p90, p99, p999, max } }: LoadResult): string {
  if (requests === 0) return 'no answer'
  const columns = Object.entries({ mean, p50, p90, p99, 'p99.9': p999, max })
  const cells = columns.map(([name, value]) => [name, milliseconds(value)] as const)
  const line = (place: 0 | 1) => cells.map((cell) => cell[place].padStart(9)).join('')
  return `${line(0)}\n${' '.repeat(13)}${line(1)} ms`
}

function caution({ cpu }: LoadResult): string {
  return cpu.utilisation < BUSY ? '' : ': it may be the limit, not the server'
}

function counts(entries: readonly (readonly [string, number])[]): string {
  const present = entries.filter(([, count]) => count > 0)
  return present.map(([name, count]) => `${name}: ${integer(count)}`).join(', ')
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function milliseconds(value: number): string {
  return value >= 1_000 ? value.toFixed(0) : value.toPrecision(3)
}
