export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Arithmetic mean; NaN without values. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

/** Sample variance, with n − 1; NaN without two values. */
export function sampleVariance(values: readonly number[]): number {
  const centre = mean(values)
  return sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1)
}

/** Of an even number of values, the mean of the middle two; NaN without values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/**
 * Linear between the two nearest values: type 7 of Hyndman and Fan, "Sample quantiles in statistical packages" (1996).
 * @param p 0 to 1
 * @returns NaN without values
 */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * p
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (at - Math.floor(at)) * (above - below)
}
