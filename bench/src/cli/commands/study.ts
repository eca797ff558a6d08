import { relative } from 'node:path'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { type Interruption, listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress, type Progress } from '@startgrid/cli/progress.ts'
import { listOf } from '@startgrid/cli/text.ts'
import { STUDIES } from '../../../studies/index.ts'
import { overhead } from '../../../studies/overhead/study.ts'
import { startup } from '../../../studies/startup/study.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { plannedStudyMs } from '../../experiment/study.ts'
import { runExperiment } from '../../measure/run.ts'
import type { Study } from '../../model/experiment.ts'
import type { StudyResult } from '../../model/result.ts'
import { recordOf, writeResult } from '../../model/result-file.ts'
import { commandOf, prepareOutput, publish } from '../../report/output.ts'
import { writeOverhead } from '../../report/overhead.ts'
import { writeStartup } from '../../report/startup.ts'
import { hasPage, storeRecord, writePages } from '../../report/study/docs.ts'
import { whyStudyFailed } from '../exit-code.ts'
import { reportOf } from '../stored.ts'
import { describeStudies, describeStudyPlan } from '../study-listing.ts'
import { readStudyOptions, type StudyOptions } from '../study-options.ts'
import { findUnfinishedStudies, type PlannedStudies } from '../study-resume.ts'

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
  const { planned } = options.resume === undefined ? plan(options, '') : findUnfinishedStudies(options)
  return planned.map(({ study, result }) => describeStudyPlan(study, result)).join('\n')
}

function plan(options: StudyOptions, command: string): Pick<PlannedStudies, 'planned'> {
  const { studies, profile = 'full', seed = Math.floor(Math.random() * 2 ** 32) } = options
  const planOptions = { ...options, profile, seed }
  return {
    planned: studies.map((study) => ({ study, result: createStudyResult(study, planOptions, command) })),
  }
}

/** What will be measured is on disk before the first measurement, so that a resumed run knows of all of it. */
function begin(options: StudyOptions, args: readonly string[]): PlannedStudies {
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32)
  const directory = prepareOutput(options.output, options.json)
  const { planned } = plan({ ...options, seed }, commandOf('pnpm bench study', args, seed))
  for (const { study, result } of planned) writeResult(pathOf(directory, study), result)
  return { directory, planned }
}

/** @returns 1 if something could not be run, or a cell is void; what a machine is too small for is a result all the same */
async function measure(options: StudyOptions, args: readonly string[]): Promise<number> {
  const { directory, planned } =
    options.resume === undefined ? begin(options, args) : findUnfinishedStudies(options)
  const progress = createProgress()
  const interruption = listenForInterruption(progress)
  const open = planned.filter(({ result }) => result.finishedAt === null)
  if (planned.length > 1) {
    const total = open.reduce((sum, { study, result }) => sum + plannedStudyMs(study, result), 0)
    const names = listOf(open.map(({ study }) => study.name))
    progress.say(`${names}: about ${formatMinutes(total)} (minutes:seconds).`)
  }
  for (const { study, result } of open) {
    if (interruption.signal.aborted) break
    await measureOne(study, result, { directory, progress, interruption, options })
  }
  progress.stop()
  if (interruption.signal.aborted) {
    const where = options.output === undefined ? '' : ` ${relative('.', directory) || '.'}`
    process.stderr.write(
      `Interrupted: what was measured before is above and in the files. Go on with pnpm bench study --resume${where}\n`,
    )
    return interruption.code()
  }
  const failed = planned.flatMap(({ result }) => whyStudyFailed(result))
  for (const sentence of failed) process.stderr.write(`${sentence}\n`)
  if (options.docs) {
    const kept = planned.filter(({ study }) => hasPage(study))
    for (const { result } of kept) storeRecord(recordOf(result))
    for (const { study, result } of planned) {
      if (study === overhead) writeOverhead(result)
      if (study === startup) writeStartup(result)
    }
    if (kept.length > 0) regenerate()
  }
  return failed.length > 0 ? 1 : 0
}

interface Run {
  directory: string
  progress: Progress
  interruption: Interruption
  options: StudyOptions
}

async function measureOne(study: Study, result: StudyResult, run: Run): Promise<void> {
  const { directory, progress, interruption, options } = run
  const save = (so: StudyResult) => writeResult(pathOf(directory, study), so)
  const { signal } = interruption
  await runExperiment(study, result, { progress, signal, save, download: options.download }).finally(
    progress.stop,
  )
  save(result) // what could not be saved is an error now
  publish(result, reportOf(result, { directory, studies: [study] }), options)
}

function pathOf(directory: string, { name }: Study): string {
  return `${directory}/${name}.json`
}

function regenerate(): void {
  const missing = writePages(STUDIES.filter((study) => hasPage(study)))
  process.stderr.write('Made again: docs/studies/README.md and the figures in its pages.\n')
  if (missing.length > 0) process.stderr.write(`No result is stored of ${listOf(missing)}.\n`)
}
