import { countsOf } from '@startgrid/loadgen/recording.ts'

/**
 * What a late generator adds to the figures of an open loop. A latency counts from when a request was due, so that of a late request has
 * the delay in it, and so have those of requests that then wait behind it. Both only make latencies longer.
 */

/** A figure that may be longer by more than this part is not the server's. */
const MOST = 0.1

/** Latency and schedule lag of one load, or of several, as `Trial` has them. */
interface Recorded {
  histogram: string
  lagHistogram: string | null
}

/**
 * If late requests, and as many behind them, had been the fastest of all, a percentile would be that of so many fewer.
 * @param percentile 0 to 100
 */
export function isSpoiled({ histogram, lagHistogram }: Recorded, percentile: number): boolean {
  if (lagHistogram === null) return false
  const ms = valueAt(histogram, percentile)
  const moved = 2 * 100 * partLate(lagHistogram, ms)
  return ms > valueAt(histogram, Math.max(0, percentile - moved)) * (1 + MOST)
}

/** Milliseconds, as `percentiles` of the load generator gives them. @param percentile 0 to 100 */
export function valueAt(histogram: string, percentile: number): number {
  const counts = read(histogram)
  let left = Math.max(1, Math.ceil((percentile / 100) * sumOf(counts, () => 1)))
  for (const { ms, count } of counts) {
    left -= count
    if (left <= 0) return ms
  }
  return 0
}

type Counts = ReturnType<typeof countsOf>

/** A run is analysed after every heat, and to decode a histogram takes milliseconds. */
const known = new Map<string, Counts>()

function read(encoded: string): Counts {
  const counts = known.get(encoded) ?? countsOf(encoded)
  known.set(encoded, counts)
  return counts
}

/** Part of the requests that were late by this latency or more; one that was late by half of it counts half. */
function partLate(lagHistogram: string, ms: number): number {
  const lags = read(lagHistogram)
  const late = lags.filter((lag) => lag.ms > ms * MOST)
  return sumOf(late, (lag) => Math.min(1, lag.ms / ms)) / sumOf(lags, () => 1)
}

/** @param meanMs the mean latency */
export function isMeanSpoiled(lagHistogram: string | null, meanMs: number): boolean {
  if (lagHistogram === null) return false
  const lags = read(lagHistogram)
  return (2 * sumOf(lags, ({ ms }) => ms)) / sumOf(lags, () => 1) > meanMs * MOST
}

function sumOf(
  lags: readonly { ms: number; count: number }[],
  each: (lag: { ms: number }) => number,
): number {
  return lags.reduce((sum, lag) => sum + lag.count * each(lag), 0)
}
