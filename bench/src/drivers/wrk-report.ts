import { type ErrorCounts, LoadError } from '@startgrid/loadgen'
import type { LatencySeconds } from './driver.ts'

/** What one run of wrk measured. */
interface WrkReport {
  requests: number
  seconds: number
  cpuSeconds: number
  errors: Partial<ErrorCounts>
  latencySeconds: LatencySeconds
}

/** A latency in microseconds, and how many responses had it; in rising order. */
export type Bucket = readonly [microseconds: number, count: number]

/** As wrk.lua writes it. */
interface Written {
  microseconds: number
  requests: number
  cpuSeconds: number
  /** `read` includes connections that the server closed; `status` is above 399; `timeout` counts late responses, not missing ones. */
  errors: Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>
  latency: Bucket[]
}

/**
 * Reads the line of wrk.lua from what wrk printed.
 * @throws {LoadError} if it is not there
 */
export function parseWrk(output: string, connections: number): WrkReport {
  const line = /^\{.*\}$/m.exec(output)?.[0]
  if (line === undefined) throw new LoadError('wrk ended without a result.')
  const { microseconds, requests, cpuSeconds, errors, latency } = JSON.parse(line) as Written
  const { connect, read, write, status, timeout } = errors
  return {
    requests,
    seconds: microseconds / 1e6,
    cpuSeconds,
    errors: { connect, reset: read + write, timeout, status },
    latencySeconds: summarise(undoCorrection(latency, { microseconds, requests, connections })),
  }
}

/**
 * Takes out what wrk adds to the latencies that it measured. For each of at least twice the mean interval between the responses of a
 * connection, it adds latencies that are one, two, three … intervals shorter, down to one interval (`stats_correct` in its stats.c):
 * a guess at what an open loop would have met. Adding begins with the shortest, so none is made from added ones, and what was at
 * a latency is what is there now less what is now one interval further on. Without this, rate × mean latency can be three times
 * the number of connections.
 */
export function undoCorrection(
  buckets: readonly Bucket[],
  { microseconds, requests, connections }: { microseconds: number; requests: number; connections: number },
): Bucket[] {
  // With fewer responses than connections wrk adds nothing: the interval is infinite.
  const interval = Math.floor(microseconds / Math.floor(requests / connections))
  const counts = new Map(buckets)
  return buckets
    .map(
      ([value, count]): Bucket => [
        value,
        value > interval ? count - (counts.get(value + interval) ?? 0) : count,
      ],
    )
    .filter(([, count]) => count > 0)
}

function summarise(buckets: readonly Bucket[]): LatencySeconds {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return { mean: 0, p50: 0, p99: 0 }
  const sum = buckets.reduce((all, [value, count]) => all + value * count, 0)
  return { mean: sum / total / 1e6, p50: percentile(buckets, total, 50), p99: percentile(buckets, total, 99) }
}

/** Nearest rank: the smallest latency that at least this part of the responses do not exceed. In seconds. */
function percentile(buckets: readonly Bucket[], total: number, percent: number): number {
  let seen = 0
  for (const [value, count] of buckets) {
    seen += count
    if (seen >= (total * percent) / 100) return value / 1e6
  }
  return 0
}
