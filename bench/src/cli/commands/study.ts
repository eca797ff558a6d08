import { globSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { formatMinutes, formatRate, formatRatio, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { COLUMNS, indented, listOf } from '@startgrid/cli/text.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { chooseRaces, plannedStudyMs, type StudyProfile } from '../../experiment/study.ts'
import { baseOf } from '../../measure/common-rate.ts'
import { runExperiment } from '../../measure/run.ts'
import type { Cell } from '../../model/cell.ts'
import { type Claim, isProbe, publishedRatio, type Study } from '../../model/experiment.ts'
import type { Result } from '../../model/result.ts'
import { RESULTS, ResultError, readResult, writeResult } from '../../model/result-file.ts'
import { commandOf, prepareOutput, writeReports } from '../../report/output.ts'
import { INTERRUPTED, whyRunFailed } from '../exit-code.ts'
import { STUDY } from '../option-table.ts'
import { newSeed } from '../options.ts'

/** `pnpm bench study`: tests a source's claims. @returns the exit code */
export async function studyCommand(args: readonly string[]): Promise<number> {
  const options = readStudyOptions(args)
  if (options.list) process.stdout.write(describeStudies(options.studies))
  else if (options.dryRun) process.stdout.write(describePlans(options))
  else return measure(options, args)
  return 0
}

function describePlans(options: StudyOptions): string {
  return plan(options, '')
    .map(({ study, result }) =>
      isFinished(result) ? `${describeFinished(result)}\n` : describeStudyPlan(study, result),
    )
    .join('\n')
}

/** With `--all`, what is finished of this commit is not measured again. */
function plan(options: StudyOptions, command: string): PlannedStudy[] {
  const { profile = 'full', seed = newSeed(), asPublished } = options
  const studies = options.studies.map((study) => chooseRaces(study, asPublished))
  const measurable = studies.filter(({ races }) => Object.keys(races).length > 0)
  if (measurable.length === 0)
    throw new UsageError(`${listOf(studies.map(({ name }) => name))} has no command of its source to run.`)
  return measurable.map((study) => {
    const result = createStudyResult(study, { ...options, profile, seed }, command)
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

/** @returns 1 if something could not be run or responded wrongly; what a machine is too small for is a result all the same */
async function measure(options: StudyOptions, args: readonly string[]): Promise<number> {
  const seed = options.seed ?? newSeed()
  const directory = prepareOutput(options.output, options.json)
  const planned = plan({ ...options, seed }, commandOf('pnpm bench study', args, seed))
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  for (const { result } of planned) if (isFinished(result)) progress.say(describeFinished(result))
  const open = planned.filter(({ result }) => !isFinished(result))
  if (open.length > 1) {
    const total = open.reduce((sum, { study, result }) => sum + plannedStudyMs(study, result), 0)
    const names = listOf(open.map(({ study }) => study.name))
    progress.say(`${names}: about ${formatMinutes(total)} (minutes:seconds).`)
  }
  for (const { study, result } of open) {
    if (signal.aborted) break
    const save = (so: Result) => writeResult(pathOf(directory, study), so)
    const context = { progress, signal, save, download: options.download }
    await runExperiment(study, result, context).finally(progress.stop)
    save(result) // what could not be saved is an error now
    await writeReports(result, `${directory}/${study.name}`, options)
  }
  progress.stop()
  if (signal.aborted) {
    process.stderr.write(`${INTERRUPTED}\n`)
    return code()
  }
  const failed = planned.flatMap(({ result }) => whyRunFailed(result))
  for (const sentence of failed) process.stderr.write(`${sentence}\n`)
  return failed.length > 0 ? 1 : 0
}

function pathOf(directory: string, { name }: Study): string {
  return `${directory}/${name}.json`
}

type StudyOptions = ReturnType<typeof readStudyOptions>

/** What `pnpm bench study` is asked to do. @throws {UsageError} saying what is allowed */
function readStudyOptions(args: readonly string[]) {
  const { values, positionals } = readCommandLine(args, STUDY, 'pnpm bench study')
  const [name, extra] = positionals
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument '${extra}'. pnpm bench study --help lists the options.`)
  const { all, list, quick, json, output, heats, seed } = values
  const studies = list && name === undefined ? STUDIES : chooseStudies(name, all)
  if (studies.length === 0 && !list)
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  if (json !== undefined && studies.length > 1)
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    ...{ studies, all, heats, seed, list, json, output },
    /** Undefined: full. */
    profile: (quick ? 'quick' : undefined) as StudyProfile | undefined,
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

/** Systems, launches and time. */
function describeStudyPlan(study: Study, result: Result): string {
  const races = Map.groupBy(result.cells, ({ race }) => race)
  const lines = [...races].flatMap(([race, cells]) => [
    `  ${race}`,
    ...cells.map(({ title, cores }) => `    ${title}${cores.wanted > 1 ? ` (${cores.wanted} cores)` : ''}`),
    ...latencyLines(study, race, cells),
  ])
  const time = formatMinutes(plannedStudyMs(study, result))
  return [
    `${study.name}: ${result.settings.heats} launches of every system, about ${time} (minutes:seconds)`,
    ...lines,
    '',
  ].join('\n')
}

/** Whose latency is measured, and at which rate. */
function latencyLines(study: Study, race: string, cells: readonly Cell[]): string[] {
  const asked = cells.filter(({ openLoop }) => openLoop).map(({ title }) => title)
  const own = study.races[race]
  if (asked.length === 0 || own === undefined || isProbe(own)) return []
  const base = baseOf(study, race)
  const slowest = cells.filter(({ app }) => base.includes(app)).map(({ title }) => title)
  const whose = slowest.length === asked.length ? 'these' : listOf(slowest)
  const rate =
    own.openRate === undefined
      ? `half of what the slowest of ${whose} can do`
      : `${formatRate(own.openRate)} requests per second`
  return [indented(`latency of ${listOf(asked)} in open loop, at ${rate}`, '    ', COLUMNS)]
}

interface PlannedStudy {
  study: Study
  result: Result
}
