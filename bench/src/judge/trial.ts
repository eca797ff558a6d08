import { formatRate } from '@startgrid/cli/numbers.ts'
import type { Trial } from '../result/heat.ts'

/** What is wrong with a stretch of load. */

/** Milliseconds that one request in a hundred may be sent late. */
const LAG_P99_MS = 1

/** Neither others nor a late generator are in its figures. Never asks what was measured of the server. */
export function isTimely({ disturbed, generatorBound, lag }: Trial): boolean {
  return !disturbed && !generatorBound && (lag === null || lag.p99 <= LAG_P99_MS)
}

/** Errors that say no more than that something took too long. */
const LATE_KINDS: ReadonlySet<string> = new Set(['timeout', 'connect'])

/** Errors of responses, which `requests` counts as well. */
const WRONG_KINDS: ReadonlySet<string> = new Set(['status', 'body'])

/**
 * One error or one wrong response voids a number: a clause. A neighbour makes responses late, but not wrong: of a disturbed load, what took too
 * long does not count.
 */
export function whyFailed({
  errors,
  requests,
  disturbed,
}: Pick<Trial, 'errors' | 'requests' | 'disturbed'>): string | null {
  const counts = Object.entries(errors).filter(([kind]) => !disturbed || !LATE_KINDS.has(kind))
  if (counts.length === 0) return null
  const sum = (some: typeof counts) => some.reduce((total, [, count]) => total + count, 0)
  const unanswered = sum(counts.filter(([kind]) => !WRONG_KINDS.has(kind)))
  const kinds = counts.map(([kind, count]) => `${formatCount(count)} ${kind}`)
  return `${formatCount(sum(counts))} of ${formatCount(requests + unanswered)} requests failed (${kinds.join(', ')})`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** Beside that, a load of which nothing was compared proves nothing. */
export function whyWrong(load: Pick<Trial, 'errors' | 'requests' | 'checked' | 'disturbed'>): string | null {
  const failure = whyFailed(load)
  if (failure !== null || load.checked > 0) return failure
  return load.requests === 0 ? 'no request got a response' : 'no response was compared'
}

/** How far the rate of responses may be from what was due by the drawn arrivals. */
const OFFERED_WITHIN = 0.01

/** Its responses fell behind, so a queue grew for as long as the load lasted, and latencies only say for how long that was. */
export function whyNotKept({ offered, achieved }: Trial): string | null {
  if (Math.abs(achieved - offered) <= offered * OFFERED_WITHIN) return null
  return `${formatRate(achieved)} of ${formatRate(offered)} requests per second got a response`
}
