import type { Interval } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'

/**
 * The geometric mean of positive values, one per launch, with a 95 % interval: Student's t on their logarithms, because what differs
 * between launches does so by a factor. The ends are null with one value.
 * @throws {RangeError} without values
 */
export function intervalOf(values: readonly number[]): Interval {
  return intervalAround(geometricMean(values), values)
}

/**
 * The same width around an estimate that was made from all launches together, such as a percentile of their merged samples: that is
 * not the mean of the launches' own percentiles, but varies with them.
 */
export function intervalAround(value: number, values: readonly number[]): Interval {
  if (values.length < 2) return { value, low: null, high: null }
  const variance = sampleVariance(values.map(Math.log))
  const factor = Math.exp(tQuantile(0.975, values.length - 1) * Math.sqrt(variance / values.length))
  return { value, low: value / factor, high: value * factor }
}

/** @throws {RangeError} without values */
export function geometricMean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('There is nothing to average.')
  return Math.exp(mean(values.map(Math.log)))
}
