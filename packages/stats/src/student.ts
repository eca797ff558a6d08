/** Student's t distribution. The libraries for it bring 220 packages along, or are not maintained. */

/**
 * Quantile of Student's t.
 * @param p 0.5 up to below 1
 * @param df degrees of freedom, at least 1; need not be whole
 * @throws {RangeError} outside these
 */
export function tQuantile(p: number, df: number): number {
  if (!(p >= 0.5 && p < 1) || !(df >= 1)) throw new RangeError(`t quantile of p = ${p}, df = ${df}`)
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

/**
 * The smallest true difference, in standard errors, that a two-sided t test shows at this power.
 * @param df degrees of freedom, at least 1
 * @param level of the test, such as 0.05
 * @param power between `level` and 1, such as 0.8
 */
export function smallestDifference(df: number, level: number, power: number): number {
  const critical = tQuantile(1 - level / 2, df)
  const excess = (difference: number) => upperTail(critical, df, difference) - power
  let high = critical + 5
  while (excess(high) < 0) high *= 2
  return findRoot(excess, 0, high)
}

/** Of Simpson's rule: seven digits at one degree of freedom, more above. */
const STEPS = 128

/**
 * P(T > t) of noncentral t: the mean of Φ(noncentrality − t·s) over the distribution of s, the ratio of estimated and true standard
 * deviation (√(χ²/df): Johnson, Kotz and Balakrishnan 1995, Continuous Univariate Distributions 2, chapter 31). Integrated over √s, in
 * which it is smooth down to 0.
 */
function upperTail(t: number, df: number, noncentrality: number): number {
  const width = 9 / Math.sqrt(2 * df)
  const start = Math.sqrt(Math.max(0, 1 - width))
  const step = (Math.sqrt(1 + width) - start) / STEPS
  const logScale = 2 * Math.LN2 + (df / 2) * Math.log(df / 2) - logGamma(df / 2)
  let sum = 0
  for (let index = 0; index <= STEPS; index++) {
    const root = start + index * step
    const s = root * root
    const density = Math.exp(logScale + (2 * df - 1) * Math.log(root) - (df * s * s) / 2)
    const weight = index === 0 || index === STEPS ? 1 : 2 + 2 * (index % 2)
    sum += weight * density * normalCdf(noncentrality - t * s)
  }
  return (sum * step) / 3
}

/** Φ(x) by Marsaglia's series (2004, Journal of Statistical Software 11:4). */
export function normalCdf(x: number): number {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0
  let sum = x
  let term = x
  for (let odd = 3; Math.abs(term) > 1e-16 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd
    sum += term
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)
}

/** An interval this small, as a part of its end, is a point: a double has 16 digits. */
const CLOSE = 1e-14

/**
 * Where a continuous function is zero, between two places with values of opposite sign: regula falsi with halved weights (the Illinois method, Dowell and
 * Jarratt 1971, BIT 11:168). Smooth functions take about ten evaluations, where halving takes fifty.
 */
export function findRoot(valueAt: (x: number) => number, low: number, high: number): number {
  let [a, b] = [low, high]
  let [left, right] = [valueAt(a), valueAt(b)]
  if (left === 0) return a
  for (let step = 0; step < 200 && right !== 0; step++) {
    const x = b - (right * (b - a)) / (right - left)
    const value = valueAt(x)
    if (Math.abs(x - b) <= CLOSE * Math.abs(x)) return x
    if (Math.sign(value) === Math.sign(right)) left /= 2
    else [a, left] = [b, right]
    ;[b, right] = [x, value]
  }
  return b
}

/** Logarithm of the gamma function: Lanczos approximation with g = 7 and 9 terms (Godfrey 2001), 15 digits for x > 0. */
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
