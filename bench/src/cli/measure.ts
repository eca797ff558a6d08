import { join } from 'node:path'
import { formatMinutes } from '@startgrid/cli/numbers.ts'
import { createProgress, listenForInterruption } from '@startgrid/cli/progress.ts'
import { COLUMNS, indented, plural, wrap } from '@startgrid/cli/text.ts'
import { plannedMs } from '../experiment/time.ts'
import { wrongCells } from '../judge/gates.ts'
import { formatMargin, isSlower, WITHIN } from '../judge/verdict.ts'
import type { RunContext } from '../measure/preparation.ts'
import { describeReach } from '../report/grid.ts'
import { prepareOutput, writeReports } from '../report/output.ts'
import { type Experiment, isStudy } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import { writeResult } from '../result/result-file.ts'
import type { Program } from './program.ts'

/** What the grid, studies and a race of commands do alike: a plan, the measurement until its end or an interruption, reports and an exit code. */

/** What a run would do, and how long it takes: `--dry-run`. */
export function describePlan(name: string, experiment: Experiment, result: Result): string {
  const { cells, settings } = result
  return [
    wrap(
      `${name}: ${plural(settings.heats, 'start')} of every system, about ${formatMinutes(plannedMs(result))} (minutes:seconds) on two cores, if nobody disturbs it.`,
    ),
    wrap('The first run on new code also proves the contract of every app: up to half a minute more.'),
    ...(isStudy(experiment) ? [] : describeReach(result)).map((sentence) => wrap(sentence)),
    ...[...Map.groupBy(cells, ({ race }) => race)].map(([race, own]) =>
      indented(`${race}: ${[...new Set(own.map(({ title }) => title))].join('; ')}`, '  ', COLUMNS),
    ),
    '',
  ].join('\n')
}

/** How something is measured. @throws {ForeseenError} if it cannot begin */
export type Measure = (context: RunContext) => Promise<Result>

interface Wanted {
  output: string | undefined
  json: string | undefined
  /** A slower system fails a race: `--fail-if-slower`. */
  fails?: boolean
}

/** @returns the exit code */
export async function measureAndReport(
  all: readonly Measure[],
  { output, json, fails = false }: Wanted,
  { results }: Program,
): Promise<number> {
  const directory = prepareOutput(output, json, results)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const store = (result: Result) => writeResult(join(directory, `${nameOf(result, 'result')}.json`), result)
  // What cannot begin leaves nothing.
  const save = (result: Result) => {
    if (result.heats.length > 0) store(result)
  }
  let exitCode = 0
  for (const measure of all) {
    let result: Result
    try {
      result = await measure({ progress, signal, save })
    } catch (error) {
      if (signal.aborted) break
      throw error
    } finally {
      progress.stop()
    }
    store(result) // what could not be saved is an error now
    const end = sayEnd(result, fails, signal.aborted)
    exitCode = Math.max(exitCode, end.code)
    await writeReports(result, join(directory, nameOf(result, 'report')), { json, closing: end.sentences })
    if (signal.aborted) break
  }
  return signal.aborted ? code() : exitCode
}

/** Of its files: one run may measure several studies. */
function nameOf({ experiment }: Result, otherwise: string): string {
  return isStudy(experiment) ? experiment.name : otherwise
}

/** What is said last, and the exit code. @param fails whether a slower system fails the command */
export function sayEnd(
  result: Result,
  fails: boolean,
  isInterrupted: boolean,
): { sentences: string[]; code: number } {
  if (isInterrupted)
    return { sentences: ['Interrupted: what was measured before is above and in the files.'], code: 0 }
  const { regressions, unknown } = fails ? judgeRegressions(result) : { regressions: [], unknown: [] }
  const failed = [...whyRunFailed(result), ...regressions]
  const isPart = result.warnings.some(({ kind }) => kind === 'refused')
  const code = failed.length > 0 ? 1 : isPart ? 2 : 0
  return { sentences: [...unknown, ...failed, ...hintOf(result)], code }
}

/** How to ask what a difference between two servers on Node comes from, if nobody has. */
function hintOf({ analysis, cells, heats, command }: Result): string[] {
  const own = cells.filter(({ twinOf }) => twinOf === null)
  const onNode = heats.flatMap(({ launches }) => launches.flatMap(({ app, isNode }) => (isNode ? app : [])))
  const canTell = own.every(({ app }) => onNode.includes(app)) && !/ --why( |$)/.test(command)
  const isDifferent = analysis?.findings.some((one) => !one.isTwin && one.verdict === 'differs') ?? false
  const systems = new Set(own.map(({ app }) => app)).size
  return canTell && isDifferent && systems === 2
    ? ['The same with --why names the functions that account for it: one to four minutes more.']
    : []
}

/**
 * What makes a command fail that measured to its end: something could not be run or responded wrongly. Noise is neither: ties, wide intervals, cells
 * that are void because the server was not the limit, dropped heats and undecided claims are results. Twins decide nothing.
 * @returns sentences; none if the exit code is 0
 */
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

/** Who is slower than the first system by more than the margin: sentences, and whether the command fails for it. */
function judgeRegressions({ analysis, cells: [first], settings: { within = WITHIN } }: Result) {
  const own = (analysis?.findings ?? []).filter((one) => !one.isTwin && one.under === first?.system)
  const slower = own.filter((one) => isSlower(one, within) === true)
  return {
    regressions: slower.map(
      ({ over, under, race }) =>
        `${over} is slower than ${under} by more than ${formatMargin(within)} (${race}): exit code 1.`,
    ),
    unknown: own.flatMap((one) =>
      one.verdict !== null && isSlower(one, within) !== null
        ? []
        : `It is not known whether ${one.over} is slower than ${one.under} by more than ${formatMargin(within)} (${one.race}): exit code 0.`,
    ),
  }
}
