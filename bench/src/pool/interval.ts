import type { Interval } from '@startgrid/stats/estimate.ts'
import { toInterval } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'

/**
 * The geometric mean of what launches came to, with its 95 % interval: Student's t on their logarithms, because a launch is the unit of
 * replication. Without ends for a single one.
 * @param values all above 0
 */
export function overLaunches(values: readonly number[]): Interval {
  const logs = values.map(Math.log)
  if (logs.length < 2) return { value: Math.exp(mean(logs)), low: null, high: null }
  const standardError = Math.sqrt(sampleVariance(logs) / logs.length)
  return toInterval({ estimate: mean(logs), standardError, df: logs.length - 1 })
}
