/** Student's t distribution. The libraries that have it bring 220 packages along, or are not kept. */

/**
 * Quantile of Student's t.
 * @param p 0.5 up to below 1
 * @param df degrees of freedom, at least 1; need not be whole
 * @throws {RangeError} outside these
 */
export function tQuantile(p: number, df: number): number {
  if (!(p >= 0.5 && p < 1) || !(df >= 1)) throw new RangeError(`t quantile of p = ${p}, df = ${df}`)
  let low = 0
  let high = 1
  while (tCdf(high, df) < p) high *= 2
  // The CDF rises steadily, so halving finds it: 60 steps exhaust a double.
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (tCdf(middle, df) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Abramowitz and Stegun 26.7.1 and 26.5.27: P(T ≤ t) for t ≥ 0. */
function tCdf(t: number, df: number): number {
  return 1 - incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2
}

/** Regularised incomplete beta function by its continued fraction (DLMF 8.17.22, evaluated by the modified Lentz method). */
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

/** Lanczos approximation with g = 7 and 9 terms (Godfrey 2001): 15 digits for x > 0. */
function logGamma(x: number): number {
  let series = 0.99999999999980993
  LANCZOS.forEach((term, index) => {
    series += term / (x + index)
  })
  const shifted = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(shifted) - shifted + Math.log(series)
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]
