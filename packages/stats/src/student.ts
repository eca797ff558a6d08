import { logGamma } from './gamma.ts'
import { findRoot } from './root.ts'

/** Student's t distribution. The libraries for it bring 220 packages along, or are not maintained. */

/**
 * Quantile of Student's t.
 * @param p 0.5 up to below 1
 * @param df degrees of freedom, at least 1; need not be whole
 * @throws {RangeError} outside these
 */
export function tQuantile(p: number, df: number): number {
  if (!(p >= 0.5 && p < 1) || !(df >= 1)) throw new RangeError(`t quantile of p = ${p}, df = ${df}`)
  if (p === 0.5) return 0
  // The logarithm of the tail is nearly straight where the tail itself is not.
  const tail = Math.log(2 * (1 - p))
  const excess = (t: number) => Math.log(tTwoSided(t, df)) - tail
  let high = 1
  while (excess(high) > 0) high *= 2
  return findRoot(excess, high === 1 ? 0 : high / 2, high)
}

/**
 * P(|T| ≥ |t|), the two-sided p-value (Abramowitz and Stegun 26.7.1 and 26.5.27).
 * @param df degrees of freedom above 0; need not be whole
 */
export function tTwoSided(t: number, df: number): number {
  return incompleteBeta(df / (df + t * t), df / 2, 0.5)
}

/** Regularised incomplete beta function, x from 0 to 1, by its continued fraction (DLMF 8.17.22, evaluated by the modified Lentz method). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x === 0 || x === 1) return x
  // The fraction converges fast below the mean; beyond it, use the symmetry (DLMF 8.17.4).
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front =
    Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a
  return (
    front /
    lentz((m) => {
      const half = Math.floor(m / 2)
      return m % 2 === 0
        ? (half * (b - half) * x) / ((a + m - 1) * (a + m))
        : (-(a + half) * (a + b + half) * x) / ((a + m - 1) * (a + m))
    })
  )
}

/** 1 + d1 / (1 + d2 / (1 + …)), to the precision of a double. */
function lentz(coefficient: (m: number) => number): number {
  let fraction = 1
  let c = 1
  let d = 0
  for (let m = 1; m < 500; m++) {
    const term = coefficient(m)
    d = 1 / (1 + term * d)
    c = 1 + term / c
    fraction *= c * d
    if (Math.abs(c * d - 1) < 1e-16) break
  }
  return fraction
}
