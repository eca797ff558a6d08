import { plural } from '@startgrid/cli/text.ts'
import { isTested, LEAST_STARTS } from '../judge/findings.ts'
import { wrongCells } from '../judge/gates.ts'
import { describeCaught, describeRegression } from '../report/race.ts'
import type { Result } from '../result/result.ts'

/**
 * What makes a command fail that measured to its end: something could not be run or responded wrongly. Noise is neither: ties, wide intervals, cells that
 * are void because the server was not the limit, dropped heats and undecided claims are results. Twins decide nothing.
 */

/** What is said last, and the exit code of a run that was not interrupted. @param limit as of `judgeRegressions` */
export function sayEnd(
  result: Result,
  limit: number | null,
  isInterrupted: boolean,
): { sentences: string[]; code: number } {
  if (isInterrupted)
    return { sentences: ['Interrupted: what was measured before is above and in the files.'], code: 0 }
  const { regressions, caught, unjudged } = judgeRegressions(result, limit)
  const failed = [...whyRunFailed(result), ...regressions]
  if (failed.length > 0) return { sentences: [...caught, ...failed], code: 1 }
  return { sentences: [...caught, ...unjudged], code: unjudged.length > 0 ? 2 : 0 }
}

/** @returns sentences; none if the exit code is 0 */
export function whyRunFailed(result: Result): string[] {
  const { cells, heats } = result
  const tried = cells.filter(({ skipped, twinOf }) => skipped === null && twinOf === null)
  const loaded = heats.flatMap(({ slices }) => slices.filter(({ phase }) => phase === 'measure'))
  const probed = heats.flatMap(({ probes }) => probes)
  const measured = new Set([...loaded, ...probed].map(({ cell }) => cell))
  const wrong = wrongCells(result)
  const failed = tried.filter(({ id }) => wrong.has(id) || !measured.has(id)).length
  if (failed === 0) return []
  const { name } = result.experiment
  return [
    `${name && `${name}: `}${failed} of ${plural(tried.length, 'cell')} could not be run, or responded wrongly: exit code 1.`,
  ]
}

/**
 * What `--fail-on-regression` of a race of commands says, in sentences: `regressions` fail the command with exit code 1. Where nothing could be judged,
 * `unjudged` is exit code 2, because green would say that nothing was found. `caught` is what a race without a regression would have found.
 * @param limit as a part of 1; null: it was not asked for
 */
export function judgeRegressions(
  { analysis, cells: [first] }: Result,
  limit: number | null,
): Record<'regressions' | 'caught' | 'unjudged', string[]> {
  if (limit === null) return { regressions: [], caught: [], unjudged: [] }
  const findings = analysis?.findings ?? []
  const own = findings.filter((one) => one.under === first?.system && isTested(one))
  const regressions = own.flatMap((finding) => describeRegression(finding, limit) ?? [])
  return {
    regressions,
    caught: regressions.length > 0 ? [] : own.map((finding) => describeCaught(finding, limit)),
    unjudged: findings.some((one) => !one.isTwin && !isTested(one))
      ? [`--fail-on-regression says nothing without ${LEAST_STARTS} starts of each system: exit code 2.`]
      : [],
  }
}
