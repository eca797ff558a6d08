import { digamma, trigamma, trigammaInverse } from './gamma.ts'
import { mean, median, sampleVariance } from './moments.ts'
import type { Variance } from './two-way.ts'

/**
 * Empirical Bayes for variances that rest on few values each (Smyth 2004, Statistical Applications in Genetics and Molecular Biology
 * 3:3): true variances are taken as drawn from a scaled inverse chi-square, which the observed ones together tell.
 */

/** Observed variances below this part of their median are taken as that: their logarithm would tell of rounding only (as limma does). */
const FLOOR = 1e-5

/**
 * The prior's variance s0² and degrees of freedom d0, by the moments of the logarithms of the observed ones (Smyth 2004, section
 * 6.2). Where these differ no more than chance explains, d0 is infinite and s0² the pooled variance, as limma has it since 2017.
 * @param observed at least one, each with degrees of freedom above 0
 */
export function fitPrior(observed: readonly Variance[]): Variance {
  const least = FLOOR * median(observed.map(({ variance }) => variance))
  if (least === 0) return pool(observed)
  const logs = observed.map(({ variance, df }) => {
    const half = df / 2
    return Math.log(Math.max(variance, least)) - digamma(half) + Math.log(half)
  })
  const centre = mean(logs)
  const excess = sampleVariance(logs) - mean(observed.map(({ df }) => trigamma(df / 2)))
  if (!(excess > 0)) return pool(observed)
  const df = 2 * trigammaInverse(excess)
  return { variance: Math.exp(centre + digamma(df / 2) - Math.log(df / 2)), df }
}

/** The mean of a variance's prior and what was observed, each with the weight of its degrees of freedom (Smyth 2004, section 3). */
export function squeeze(observed: Variance, prior: Variance): Variance {
  if (prior.df === Number.POSITIVE_INFINITY) return prior
  const df = prior.df + observed.df
  return { variance: (prior.df * prior.variance + observed.df * observed.variance) / df, df }
}

function pool(observed: readonly Variance[]): Variance {
  const df = observed.reduce((sum, one) => sum + one.df, 0)
  const variance = observed.reduce((sum, one) => sum + one.df * one.variance, 0) / df
  return { variance, df: Number.POSITIVE_INFINITY }
}
