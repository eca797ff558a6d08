import { mean, sampleVariance } from './moments.ts'
import { tQuantile, tTwoSided } from './student.ts'
import type { Variance } from './two-way.ts'
import type { Fitted, RowVariances } from './variances.ts'

/** An estimate with its 95 % confidence interval; the ends are null where too few launches give none. */
export interface Interval {
  value: number
  low: number | null
  high: number | null
}

/** An estimate on the scale of logarithms, and how sure it is. */
export interface Estimate {
  estimate: number
  standardError: number
  /** Degrees of freedom of the standard error, at least 1; may be broken. */
  df: number
}

/** With so many columns in common, two rows tell how much they vary against each other. With fewer, the interval would be much wider. */
const OWN_COLUMNS = 5

/**
 * Row `a` less row `b` of logarithms. The variance is that of their own differences, for systems are not equally noisy: the pooled one of three, of which
 * one is four times as noisy, holds the truth in 89 %. Where these are few, it is that of both rows.
 * @returns null where no chain of shared columns links the two, or nothing tells a variance
 */
export function differenceOf({ values, fit, variances }: Fitted, a: number, b: number): Estimate | null {
  const others = values[b] ?? []
  const differences = (values[a] ?? []).flatMap((one, column) => {
    const other = others[column] ?? null
    return one === null || other === null ? [] : [one - other]
  })
  const { length } = differences
  if (length >= OWN_COLUMNS) {
    const own = { variance: sampleVariance(differences) / length, df: length - 1 }
    return withComponents(mean(differences), [own], length - 1)
  }
  const contrast = fit.contrast(a, b)
  if (contrast === null || variances === null) return null
  return withComponents(contrast.estimate, componentsOf(contrast.loads, variances), variances.limitDf)
}

/**
 * The mean of a row where columns are drawn at random as well, as heats are: the variance of column effects takes part, with the few
 * degrees of freedom that it has.
 * @param fitted of logarithms
 * @returns the geometric mean; without an interval where there are too few columns, or rows have too few in common
 */
export function rowMean({ values, fit, variances }: Fitted, row: number): Interval {
  const present = (values[row] ?? []).filter((value) => value !== null)
  const { columns } = fit
  if (columns === null || columns.length < 2) return { value: Math.exp(mean(present)), low: null, high: null }
  const n = present.length
  // The variance of column effects has the mean error of all rows in it: of this row's own, the rest is left.
  const loads = values.map((_, index) => (index === row ? (1 - 1 / values.length) / n : 0))
  const shared = { variance: sampleVariance(columns) / n, df: columns.length - 1 }
  if (variances === null) return toInterval(withComponents(mean(present), [shared], shared.df))
  const { standardError, df } = withComponents(0, componentsOf(loads, variances), variances.limitDf)
  const own = { variance: standardError ** 2, df }
  return toInterval(withComponents(mean(present), [shared, own], shared.df + variances.limitDf))
}

function componentsOf(loads: readonly number[], { rows, sharedDf }: RowVariances): Variance[] {
  const shared = rows.reduce((sum, row, index) => sum + (loads[index] ?? 0) * row.shared, 0)
  const own = rows.map(({ own: { variance, df } }, index) => ({
    variance: (loads[index] ?? 0) * variance,
    df,
  }))
  return [{ variance: shared, df: sharedDf }, ...own]
}

/**
 * An estimate whose variance is a sum of independent components.
 * @param limitDf upper limit of the degrees of freedom
 * @returns with the degrees of freedom of Satterthwaite 1946 (Biometrics Bulletin 2:110, equation 17)
 */
export function withComponents(estimate: number, components: readonly Variance[], limitDf: number): Estimate {
  const variance = components.reduce((sum, one) => sum + one.variance, 0)
  const spread = components.reduce((sum, one) => sum + one.variance ** 2 / one.df, 0)
  const df = spread === 0 ? limitDf : Math.min(limitDf, variance ** 2 / spread)
  return { estimate, standardError: Math.sqrt(variance), df: Math.max(1, df) }
}

/** The mean of independent values with its 95 % interval (Student's t); without one for a single value. @throws {RangeError} for none */
export function meanInterval(values: readonly number[]): Interval {
  const value = mean(values)
  const n = values.length
  if (n < 2) return { value, low: null, high: null }
  const halfWidth = tQuantile(0.975, n - 1) * Math.sqrt(sampleVariance(values) / n)
  return { value, low: value - halfWidth, high: value + halfWidth }
}

/** A difference of logarithms as a ratio (or a logarithm as a value), with its interval of 1 − level. */
export function toInterval({ estimate, standardError, df }: Estimate, level = 0.05): Interval {
  const halfWidth = standardError === 0 ? 0 : tQuantile(1 - level / 2, df) * standardError
  return {
    value: Math.exp(estimate),
    low: Math.exp(estimate - halfWidth),
    high: Math.exp(estimate + halfWidth),
  }
}

/** Two-sided, of no difference. */
export function pValue({ estimate, standardError, df }: Estimate): number {
  if (standardError === 0) return estimate === 0 ? 1 : 0
  return tTwoSided(estimate / standardError, df)
}

/**
 * Limits the probability of a single false difference to the level, however the tests depend on each other: Holm's step-down adjustment (Holm 1979,
 * Scandinavian Journal of Statistics 6:65).
 * @returns adjusted p-values in the order given: those below 0.05 are different at a family-wise level of 0.05
 */
export function holm(pValues: readonly number[]): number[] {
  const adjusted = pValues.map(() => 1)
  let highest = 0
  for (const [step, index] of [...pValues.keys()]
    .sort((a, b) => (pValues[a] ?? 1) - (pValues[b] ?? 1))
    .entries()) {
    highest = Math.max(highest, Math.min(1, (pValues.length - step) * (pValues[index] ?? 1)))
    adjusted[index] = highest
  }
  return adjusted
}

/**
 * The places that each of `names` may have: from 1 + how many are better for certain, to how many there are less those that are worse
 * for certain.
 * @param better whether `a` is better than `b` for certain
 */
export function rankRanges<Name>(
  names: readonly Name[],
  better: (a: Name, b: Name) => boolean,
): { name: Name; from: number; to: number }[] {
  return names.map((name) => ({
    name,
    from: 1 + names.filter((other) => better(other, name)).length,
    to: names.length - names.filter((other) => better(name, other)).length,
  }))
}
