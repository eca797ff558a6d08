/** Statistics of the times that a server notes. */

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The smallest value that is not exceeded by this part of all values. @param part 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** Differences between neighbours. */
export function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? Number.NaN))
}

/**
 * How far apart evenly spaced times are: the median over pairs that are half of all apart. A mean of gaps knows only the first and the
 * last time, and a first request that was 22 ms late made it wrong by 1.1 %.
 */
export function slope(times: readonly number[]): number {
  const half = times.length >> 1
  const distances = times.slice(half).map((time, n) => (time - (times[n] ?? Number.NaN)) / half)
  return quantile(distances, 0.5)
}

/** Standard deviation by mean: 1 for exponential gaps, 0 for equal ones. */
export function variation(values: readonly number[]): number {
  const centre = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2))) / centre
}

/** Correlation of each value with the next one: 0 if they are independent. */
export function autocorrelation(values: readonly number[]): number {
  const centre = mean(values)
  const off = values.map((value) => value - centre)
  const products = off.slice(1).map((value, n) => value * (off[n] ?? Number.NaN))
  return mean(products) / mean(off.map((value) => value ** 2))
}

/** The largest distance between the values' distribution and the exponential one of the same mean (Kolmogorov, Smirnov). */
export function distanceFromExponential(values: readonly number[]): number {
  const centre = mean(values)
  const distances = values
    .toSorted((a, b) => a - b)
    .map((value, n) => Math.abs(1 - Math.exp(-value / centre) - (n + 0.5) / values.length))
  return Math.max(...distances)
}
