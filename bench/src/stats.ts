import { tQuantile } from './student.ts'

/** An estimate with the ends of its 95 % confidence interval; both are undefined where one value gives none. */
export interface Estimate {
  value: number
  low: number | undefined
  high: number | undefined
}

/**
 * The geometric mean of positive values, one per round, with a 95 % interval: Student's t on their logarithms, because what
 * disturbs a rate does so by a factor. The round is the unit of replication; slices inside one are not independent.
 * @throws {RangeError} without values
 */
export function geometricMean(values: readonly number[]): Estimate {
  const { mean, halfWidth } = summarise(values.map(Math.log))
  if (halfWidth === undefined) return { value: Math.exp(mean), low: undefined, high: undefined }
  return { value: Math.exp(mean), low: Math.exp(mean - halfWidth), high: Math.exp(mean + halfWidth) }
}

/**
 * The ratio of two cells by their values of the same rounds: what slowed a whole round down cancels out.
 * @param pairs numerator and denominator of one round
 */
export function pairedRatio(pairs: readonly (readonly [number, number])[]): Estimate {
  return geometricMean(pairs.map(([numerator, denominator]) => numerator / denominator))
}

function summarise(values: readonly number[]): { mean: number; halfWidth: number | undefined } {
  const n = values.length
  if (n === 0) throw new RangeError('There is nothing to average.')
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  if (n === 1) return { mean, halfWidth: undefined }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)
  return { mean, halfWidth: tQuantile(0.975, n - 1) * Math.sqrt(variance / n) }
}
