import { logGamma } from './gamma.ts'
import { findRoot } from './root.ts'
import { tQuantile } from './student.ts'

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
function normalCdf(x: number): number {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0
  let sum = x
  let term = x
  for (let odd = 3; Math.abs(term) > 1e-16 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd
    sum += term
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)
}
