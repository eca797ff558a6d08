import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { STUDIES } from '../../studies/index.ts'
import { type Interruption, listenForInterruption } from '../interruption.ts'
import { commandOf, prepareOutput } from '../output.ts'
import { createProgress, formatTime, type Progress } from '../progress.ts'
import { terminalStyle } from '../report/terminal.ts'
import { storeRecord, writePages } from '../study/docs.ts'
import { describeStudies, describeStudyPlan } from '../study/listing.ts'
import { formatStudyBlock } from '../study/markdown.ts'
import { readStudyOptions, STUDY_HELP, type StudyOptions } from '../study/options.ts'
import { createStudyResult, expectedStudyMs } from '../study/plan.ts'
import { formatStudy } from '../study/report.ts'
import type { StudyResult } from '../study/result.ts'
import { runStudy } from '../study/run.ts'
import { recordOf, writeStudy } from '../study/stored.ts'
import type { Study } from '../study/study.ts'
import { listOf } from '../text.ts'

/** `pnpm bench study`: tests a source's claims. @returns the exit code */
export async function studyCommand(args: readonly string[]): Promise<number> {
  const options = readStudyOptions(args)
  if (options.help) process.stdout.write(STUDY_HELP)
  else if (options.list) process.stdout.write(describeStudies(options.studies))
  else if (options.dryRun) process.stdout.write(describePlans(options))
  else if (options.studies.length > 0) return measure(options, args)
  else regenerate()
  return 0
}

function describePlans(options: StudyOptions): string {
  return options.studies
    .map((study) => describeStudyPlan(study, createStudyResult(study, options, '')))
    .join('\n')
}

/** @returns 1 if a system that this machine can measure has no figures */
async function measure(options: StudyOptions, args: readonly string[]): Promise<number> {
  const directory = prepareOutput(options.output, options.json)
  const progress = createProgress()
  const interruption = listenForInterruption(progress)
  const command = commandOf('pnpm bench study', args, options.seed)
  const planned = options.studies.map((study) => ({
    study,
    result: createStudyResult(study, options, command),
  }))
  if (planned.length > 1) {
    const total = planned.reduce((sum, { study, result }) => sum + expectedStudyMs(study, result), 0)
    progress.say(`${planned.length} studies, about ${formatTime(total)} (minutes:seconds).`)
  }
  for (const { study, result } of planned) {
    if (interruption.signal.aborted) break
    await measureOne(study, result, { directory, progress, interruption, options })
  }
  progress.stop()
  if (interruption.signal.aborted) {
    process.stderr.write('Interrupted: what was measured before is above and in the files.\n')
    return interruption.code()
  }
  if (options.docs) regenerate()
  return planned.some(({ result }) => result.analysis?.cells.some(({ voided }) => voided)) ? 1 : 0
}

interface Run {
  directory: string
  progress: Progress
  interruption: Interruption
  options: StudyOptions
}

async function measureOne(study: Study, result: StudyResult, run: Run): Promise<void> {
  const { directory, progress, interruption, options } = run
  const path = `${directory}/${study.name}.json`
  const save = (so: StudyResult) => writeStudy(path, so)
  const { signal } = interruption
  await runStudy(study, result, { progress, signal, save, download: options.download }).finally(progress.stop)
  const record = recordOf(result)
  process.stdout.write(
    options.json === '-'
      ? `${JSON.stringify(result)}\n`
      : formatStudy(study, record, terminalStyle(process.stdout)),
  )
  if (options.json !== undefined && options.json !== '-') writeStudy(options.json, result)
  writeFileSync(`${directory}/${study.name}.md`, formatStudyBlock(study, record))
  process.stderr.write(
    `Written: ${relative('.', directory) || '.'}/${study.name}.json and ${study.name}.md\n`,
  )
  if (options.docs && !signal.aborted) storeRecord(record)
}

function regenerate(): void {
  const missing = writePages(STUDIES)
  process.stderr.write('Made again: docs/studies/README.md and the figures in its pages.\n')
  if (missing.length > 0) process.stderr.write(`No result is stored of ${listOf(missing)}.\n`)
}
