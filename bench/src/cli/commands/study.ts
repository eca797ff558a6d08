import { relative } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { formatRate, formatRatio } from '@startgrid/cli/numbers.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { COLUMNS, indented, listOf } from '@startgrid/cli/text.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { overhead } from '../../../studies/overhead/study.ts'
import { startup } from '../../../studies/startup/study.ts'
import { planCells } from '../../experiment/cells.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { plannedStudyMs, type StudyProfile } from '../../experiment/study.ts'
import { baseOf } from '../../measure/common-rate.ts'
import { findResults, pauseOf } from '../../measure/resume.ts'
import { runExperiment } from '../../measure/run.ts'
import type { Cell } from '../../model/cell.ts'
import { type Claim, closedLoopOf, isProbe, publishedRatio, type Study } from '../../model/experiment.ts'
import type { StudyResult } from '../../model/result.ts'
import { recordOf, studyPaths, writeResult } from '../../model/result-file.ts'
import { commandOf, prepareOutput, publish } from '../../report/output.ts'
import { writeOverhead } from '../../report/overhead.ts'
import { writeStartup } from '../../report/startup.ts'
import { hasPage, storeRecord, writePages } from '../../report/study/docs.ts'
import { whyStudyFailed } from '../exit-code.ts'
import { STUDY } from '../option-table.ts'
import { newSeed } from '../options.ts'
import { readMeasuredStudy, reportOf, studyOf } from '../stored.ts'

/** `pnpm bench study`: tests a source's claims. @returns the exit code */
export async function studyCommand(args: readonly string[]): Promise<number> {
  const options = readStudyOptions(args)
  if (options.list) process.stdout.write(describeStudies(options.studies))
  else if (options.dryRun) process.stdout.write(describePlans(options))
  else if (options.studies.length > 0 || options.resume !== undefined) return measure(options, args)
  else regenerate()
  return 0
}

function describePlans(options: StudyOptions): string {
  const planned = options.resume === undefined ? plan(options, '') : findUnfinishedStudies(options).planned
  return planned.map(({ study, result }) => describeStudyPlan(study, result)).join('\n')
}

function plan(options: StudyOptions, command: string): PlannedStudies['planned'] {
  const { studies, profile = 'full', seed = newSeed() } = options
  return studies.map((study) => ({
    study,
    result: createStudyResult(study, { ...options, profile, seed }, command),
  }))
}

/** What will be measured is on disk before the first measurement, so that a resumed run knows of all of it. */
function begin(options: StudyOptions, args: readonly string[]): PlannedStudies {
  const seed = options.seed ?? newSeed()
  const directory = prepareOutput(options.output, options.json)
  const planned = plan({ ...options, seed }, commandOf('pnpm bench study', args, seed))
  for (const { study, result } of planned) writeResult(pathOf(directory, study), result)
  return { directory, planned }
}

/** @returns 1 if something could not be run, or a cell is void; what a machine is too small for is a result all the same */
async function measure(options: StudyOptions, args: readonly string[]): Promise<number> {
  const { directory, planned } =
    options.resume === undefined ? begin(options, args) : findUnfinishedStudies(options)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const open = planned.filter(({ result }) => result.finishedAt === null)
  if (planned.length > 1) {
    const total = open.reduce((sum, { study, result }) => sum + plannedStudyMs(study, result), 0)
    const names = listOf(open.map(({ study }) => study.name))
    progress.say(`${names}: about ${formatMinutes(total)} (minutes:seconds).`)
  }
  for (const { study, result } of open) {
    if (signal.aborted) break
    const save = (so: StudyResult) => writeResult(pathOf(directory, study), so)
    const context = { progress, signal, save, download: options.download }
    await runExperiment(study, result, context).finally(progress.stop)
    save(result) // what could not be saved is an error now
    await publish(result, reportOf(result, { directory, studies: [study] }), options)
  }
  progress.stop()
  if (signal.aborted) {
    const where = options.output === undefined ? '' : ` ${relative('.', directory) || '.'}`
    process.stderr.write(
      `Interrupted: what was measured before is above and in the files. Go on with pnpm bench study --resume${where}\n`,
    )
    return code()
  }
  const failed = planned.flatMap(({ result }) => whyStudyFailed(result))
  for (const sentence of failed) process.stderr.write(`${sentence}\n`)
  if (options.docs) writeDocs(planned)
  return failed.length > 0 ? 1 : 0
}

function writeDocs(planned: PlannedStudies['planned']): void {
  const kept = planned.filter(({ study }) => hasPage(study))
  for (const { result } of kept) storeRecord(recordOf(result))
  for (const { study, result } of planned) {
    if (study === overhead) writeOverhead(result)
    if (study === startup) writeStartup(result)
  }
  if (kept.length > 0) regenerate()
}

function pathOf(directory: string, { name }: Study): string {
  return `${directory}/${name}.json`
}

function regenerate(): void {
  const missing = writePages(STUDIES.filter((study) => hasPage(study)))
  process.stderr.write('Made again: docs/studies/README.md and the figures in its pages.\n')
  if (missing.length > 0) process.stderr.write(`No result is stored of ${listOf(missing)}.\n`)
}

type StudyOptions = ReturnType<typeof readStudyOptions>

/** What `pnpm bench study` is asked to do. @throws {UsageError} saying what is allowed */
function readStudyOptions(args: readonly string[]) {
  const { values, positionals } = readCommandLine(args, STUDY, 'pnpm bench study')
  const [name, extra] = positionals
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument '${extra}'. pnpm bench study --help lists the options.`)
  const { all, list, quick, docs, resume, json, output, heats, seed } = values
  const studies = list && name === undefined ? STUDIES : chooseStudies(name, all)
  if (studies.length === 0 && !(list || docs || resume !== undefined))
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  if (json !== undefined && (studies.length > 1 || (name === undefined && resume !== undefined)))
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    ...{ studies, heats, seed, resume, list, docs, json, output },
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
  const how = closedLoopOf(claim.metric) === undefined ? '' : ' (open loop)'
  return `${ratio}  ${indented(`${claim.says}${how}`, ' '.repeat(9), COLUMNS).trimStart()}`
}

/** Systems, launches and time. */
function describeStudyPlan(study: Study, result: StudyResult): string {
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

/** The studies of one run, in the order in which they are measured. */
interface PlannedStudies {
  /** Where their files are. */
  directory: string
  planned: { study: Study; result: StudyResult }[]
}

/** What else the person said: a run is gone on with as it was begun. */
export type ResumeOptions = Pick<
  StudyOptions,
  'resume' | 'studies' | 'seed' | 'heats' | 'asPublished' | 'profile'
>

/**
 * The interrupted run to go on with: all of its studies, the finished ones too.
 * @throws {ResultError} if there is none, it is complete, it comes from another machine or other code, or it was begun with
 * other options than those that are given now
 */
export function findUnfinishedStudies(options: ResumeOptions): PlannedStudies {
  const { directory, results } = findResults(options.resume ?? '', {
    read: (place) => studyPaths(STUDIES, place).map(readMeasuredStudy),
    which: 'interrupted',
    what: 'pnpm bench study',
    fits: (found) => lackingIn(found, options).length === 0,
    whyOther: (found) => whyOther(found, options),
  })
  const planned = results.map((result) => ({ study: studyOf(result, STUDIES), result }))
  for (const { study, result } of planned) if (result.finishedAt === null) makeReady(study, result)
  return { directory, planned }
}

/** What the machine gives to each system is found out again. */
function makeReady(study: Study, result: StudyResult): void {
  result.cells = planCells(study)
  if (result.heats.length > 0) result.warnings.push(pauseOf(result))
}

/** Studies that were asked for, and are no part of the run. */
function lackingIn(results: readonly StudyResult[], { studies }: ResumeOptions): string[] {
  return studies.flatMap(({ name }) => (results.some(({ study }) => study === name) ? [] : name))
}

function whyOther(results: readonly StudyResult[], options: ResumeOptions): string | undefined {
  const lacking = lackingIn(results, options)
  if (lacking.length > 0) return `${listOf(lacking)} is not part of it`
  for (const { settings, seed, published } of results) {
    if (options.seed !== undefined && options.seed !== seed) return `its seed is ${seed}`
    if (options.profile !== undefined && options.profile !== settings.profile)
      return `it is a ${settings.profile} run`
    if (options.heats !== undefined && options.heats !== settings.heats)
      return `it has ${settings.heats} heats`
    if (options.asPublished && published === null) return 'it was begun without --as-published'
  }
  return undefined
}
