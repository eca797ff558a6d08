import type { Estimate, Interval } from '@startgrid/stats/estimate.ts'
import { levelAt } from '@startgrid/stats/looks.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { MOST_HEATS } from '../experiment/time.ts'
import type { Finding } from '../result/figures.ts'
import type { Settings } from '../result/result.ts'
import { SIGNIFICANT } from './comparisons.ts'

/** What is known of a pair of commands, and when it is enough: all is read off one interval, which pays for looks and for other pairs. */

/** A smaller difference is none, if nobody says how small. */
export const WITHIN = 0.03

/** `3 %` */
export function formatMargin(within: number): string {
  return `${Number((100 * within).toFixed(2))} %`
}

/** The level of each of so many pairs after so many starts. */
export function levelOf({ looks = [] }: Pick<Settings, 'looks'>, starts: number, pairs: number): number {
  return levelAt(looks, starts, SIGNIFICANT) / Math.max(1, pairs)
}

/** They differ if the interval excludes 1; they are alike if it lies within the margin (Schuirmann 1987): 3 % fewer requests, or the same upside down. */
export function verdictOf({ low, high }: Interval, within: number): Finding['verdict'] {
  if (low === null || high === null) return null
  if (low > 1 || high < 1) return 'differs'
  return low >= 1 - within && high <= 1 / (1 - within) ? 'alike' : 'open'
}

/** In 4 of 5 races, an estimate is not farther off to one side: in standard errors. */
const USUAL = 0.84

/**
 * Starts after which an open pair would be known in about 4 of 5 races, if its estimate is the truth; null if a race may not have so many.
 * @param starts so far
 */
export function startsNeeded(
  { estimate, standardError }: Estimate,
  { starts, within, level }: { starts: number; within: number; level: number },
): number | null {
  // Either it comes to exclude 1, or to lie within the margin.
  const distance = Math.max(Math.abs(estimate), -Math.log1p(-within) - Math.abs(estimate))
  const wanted = distance / (tQuantile(1 - level / 2, starts) + USUAL)
  const needed = Math.max(starts + 1, Math.ceil(starts * (standardError / wanted) ** 2))
  return needed > MOST_HEATS ? null : needed
}

/** How fast the second system is, as a part of the first: what decides may be a cost. Null without an interval. */
export function speedOf({ decides, ratio }: Finding): { low: number; high: number } | null {
  const { low, high } = ratio ?? { low: null, high: null }
  if (low === null || high === null) return null
  return decides === 'rate' ? { low, high } : { low: 1 / high, high: 1 / low }
}

/** Whether it is slower by more than the margin: null if the interval has room for both. */
export function isSlower(finding: Finding, within: number): boolean | null {
  const { low, high } = speedOf(finding) ?? { low: 0, high: 1 }
  const limit = 1 - within
  if (high < limit) return finding.verdict === 'differs'
  return low < limit ? null : false
}

/** Whether a pair has a verdict. */
export function isKnown({ verdict }: Finding): boolean {
  return verdict === 'differs' || verdict === 'alike'
}

/** Whether a race may end: asked at planned looks alone, of what it found by then. */
export type IsEnough = (findings: readonly Finding[]) => boolean

/** All pairs have a verdict. @param fails it is also known of which systems the first one is faster by more than the margin */
export function knowsAll(within: number, fails: boolean): IsEnough {
  return (findings) =>
    findings
      .filter(({ isTwin }) => !isTwin)
      .every((one) => isKnown(one) && !(fails && isSlower(one, within) === null))
}
