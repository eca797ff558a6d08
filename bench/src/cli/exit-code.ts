import { plural } from '@startgrid/cli/text.ts'
import { isTested, LEAST_STARTS } from '../judge/study/findings.ts'
import type { RaceResult, StudyResult } from '../model/result.ts'
import { describeCaught, describeRegression } from '../report/study/race-document.ts'

/**
 * What makes a command fail that measured to its end: a cell that was tried has no number, because something could not be run or was wrong. Noise is neither: ties,
 * wide intervals, dropped heats and undecided claims are results. Twins decide nothing.
 */

/** What an interrupted run says last. */
export const INTERRUPTED = 'Interrupted: what was measured before is above and in the files.'

/** @returns sentences; none if the exit code is 0 */
export function whyRaceFailed({ analysis, cells }: RaceResult): string[] {
  if (analysis === null) return ['Nothing was measured.']
  const twins = new Set(cells.filter(({ twinOf }) => twinOf !== null).map(({ id }) => id))
  const tried = analysis.cells.filter(({ cell }) => !twins.has(cell))
  const without = tried.filter(({ voided, launches }) => voided || launches === 0)
  return describeWithout(without.length, tried.length)
}

export function whyStudyFailed({ study, analysis }: Pick<StudyResult, 'study' | 'analysis'>): string[] {
  const cells = analysis?.cells ?? []
  const without = cells.filter(({ voided, launches }) => voided || launches === 0)
  return describeWithout(without.length, cells.length).map((sentence) => `${study}: ${sentence}`)
}

/**
 * What `--fail-on-regression` of a race of commands says, in sentences: `regressions` fail the command with exit code 1. Where nothing could be judged,
 * `unjudged` is exit code 2, because green would say that nothing was found. `caught` is what a race without a regression would have found.
 * @param limit as a part of 1; null: it was not asked for
 */
export function judgeRegressions(
  { analysis, race }: StudyResult,
  limit: number | null,
): Record<'regressions' | 'caught' | 'unjudged', string[]> {
  if (limit === null) return { regressions: [], caught: [], unjudged: [] }
  const findings = analysis?.findings ?? []
  const [first] = race?.systems ?? []
  const own = findings.filter((one) => one.under === first?.name && isTested(one))
  const regressions = own.flatMap((finding) => describeRegression(finding, limit) ?? [])
  return {
    regressions,
    caught: regressions.length > 0 ? [] : own.map((finding) => describeCaught(finding, limit)),
    unjudged: findings.some((one) => !one.isTwin && !isTested(one))
      ? [`--fail-on-regression says nothing without ${LEAST_STARTS} starts of each system: exit code 2.`]
      : [],
  }
}

function describeWithout(count: number, of: number): string[] {
  if (count === 0) return []
  return [
    `${count} of ${plural(of, 'cell')} ${count === 1 ? 'has' : 'have'} no number that counts: exit code 1.`,
  ]
}
