import { globSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes, formatRatio, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { COLUMNS, indented, listOf } from '@startgrid/cli/text.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { chooseRaces, plannedMs } from '../../experiment/study.ts'
import { runExperiment } from '../../measure/run.ts'
import { commandOf } from '../../report/output.ts'
import { type Claim, publishedRatio, type Study } from '../../result/experiment.ts'
import type { Result } from '../../result/result.ts'
import { RESULTS, ResultError, readResult } from '../../result/result-file.ts'
import { type Measure, measureAndReport } from '../measure.ts'
import { STUDY } from '../option-table.ts'
import { describePlan } from '../plan.ts'
import type { Program } from '../program.ts'

/** `pnpm bench study`: tests a source's claims. @returns the exit code */
export async function studyCommand(args: readonly string[], program: Program): Promise<number> {
  const options = readStudyOptions(args)
  if (options.list) {
    process.stdout.write(describeStudies(options.studies))
    return 0
  }
  const planned = plan(options, commandOf('pnpm bench study', args, options.seed))
  const open = planned.filter(({ result }) => !isFinished(result))
  for (const { result } of planned)
    if (isFinished(result)) process.stderr.write(`${describeFinished(result)}\n`)
  if (options.dryRun) {
    const plans = open.map(({ study, result }) => describePlan(study.name, study, result))
    process.stdout.write(plans.join('\n'))
    return 0
  }
  if (open.length > 1) {
    const total = open.reduce((sum, { study, result }) => sum + plannedMs(study, result), 0)
    process.stderr.write(
      `${listOf(open.map(({ study }) => study.name))}: about ${formatMinutes(total)} (minutes:seconds).\n`,
    )
  }
  const measures = open.map(
    ({ study, result }): Measure =>
      async (context) => {
        await runExperiment(study, result, { ...context, download: options.download })
        return result
      },
  )
  return measureAndReport(measures, options, program)
}

/** With `--all`, what is finished of this commit is not measured again. */
function plan(options: StudyOptions, command: string): { study: Study; result: Result }[] {
  const studies = options.studies.map((study) => chooseRaces(study, options.asPublished))
  const measurable = studies.filter(({ races }) => Object.keys(races).length > 0)
  if (measurable.length === 0)
    throw new UsageError(`${listOf(studies.map(({ name }) => name))} has no command of its source to run.`)
  return measurable.map((study) => {
    const result = createStudyResult(study, options, command)
    return { study, result: (options.all && findFinished(result)) || result }
  })
}

/** The newest run of a study with as much effort, of this commit, in bench/results. */
export function findFinished(
  { experiment: { name }, versions: { startgrid }, settings, cells }: Result,
  directory = RESULTS,
): Result | undefined {
  const files = globSync(`*/${name}.json`, { cwd: directory }).toSorted().reverse()
  return files
    .flatMap((file) => tryToRead(join(directory, file)) ?? [])
    .find(
      (found) =>
        isFinished(found) &&
        found.versions.startgrid === startgrid &&
        !startgrid.endsWith('-dirty') &&
        found.settings.profile === settings.profile &&
        found.settings.heats === settings.heats &&
        found.cells.length === cells.length,
    )
}

/** @returns undefined for what another version has written */
function tryToRead(path: string): Result | undefined {
  try {
    return readResult(path)
  } catch (error) {
    if (error instanceof ResultError) return undefined
    throw error
  }
}

function isFinished({ finishedAt }: Result): boolean {
  return finishedAt !== null
}

function describeFinished({ experiment: { name }, startedAt, versions }: Result): string {
  return `${name} is not measured again: ${formatTimestamp(startedAt)} has it, at this commit (${versions.startgrid}).`
}

type StudyOptions = ReturnType<typeof readStudyOptions>

/** What `pnpm bench study` is asked to do. @throws {UsageError} saying what is allowed */
function readStudyOptions(args: readonly string[]) {
  const { values, positionals } = readCommandLine(args, STUDY, 'pnpm bench study', 1)
  const [name] = positionals
  const { all, list, json } = values
  const studies = list && name === undefined ? STUDIES : chooseStudies(name, all)
  if (studies.length === 0 && !list)
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  if (json !== undefined && studies.length > 1)
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    ...values,
    studies,
    profile: values.quick ? ('quick' as const) : ('full' as const),
    asPublished: values['as-published'],
    maxTimeMs: values['max-time'],
    dryRun: values['dry-run'],
    download: !values['no-download'],
  }
}

function chooseStudies(name: string | undefined, all: boolean): readonly Study[] {
  if (name === undefined) return all ? PUBLISHED : []
  const found = STUDIES.find((study) => study.name === name)
  if (found === undefined)
    throw new UsageError(
      `There is no study '${name}', only ${STUDIES.map((study) => study.name).join(', ')}.`,
    )
  return [found]
}

/** Every study with its claims and published ratios. */
function describeStudies(studies: readonly Study[]): string {
  return studies
    .map(({ name, title, claims }) =>
      [`${name}: ${title}`, ...claims.map((claim) => lineOf(claim)), ''].join('\n'),
    )
    .join('\n')
}

function lineOf(claim: Claim): string {
  const ratio = formatRatio(publishedRatio(claim)).padStart(7)
  return `${ratio}  ${indented(claim.says, ' '.repeat(9), COLUMNS).trimStart()}`
}
