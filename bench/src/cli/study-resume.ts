import { listOf } from '@startgrid/cli/text.ts'
import { differenceTo } from '@startgrid/machine/provenance.ts'
import { STUDIES } from '../../studies/index.ts'
import { planCells } from '../experiment/cells.ts'
import { directoryOf, newestRun, pauseOf } from '../measure/resume.ts'
import type { Study } from '../model/experiment.ts'
import type { StudyResult } from '../model/result.ts'
import { ResultError, studyPaths } from '../model/result-file.ts'
import { readMeasuredStudy, studyOf } from './stored.ts'
import type { StudyOptions } from './study-options.ts'

/** The studies of one run, in the order in which they are measured. */
export interface PlannedStudies {
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
  const name = options.resume ?? ''
  const directory = name === '' ? newestUnfinished(options.studies) : directoryOf(name)
  const planned = readPlanned(directory)
  if (planned.length === 0)
    throw new ResultError(`${directory} has no result of a study: give --resume the directory of a run.`)
  if (planned.every(({ result }) => result.finishedAt !== null))
    throw new ResultError(`${directory} is complete: there is nothing to resume.`)
  const reason = whyOther(planned, options)
  if (reason !== undefined)
    throw new ResultError(`${directory} cannot be resumed, because ${reason}: start a new run.`)
  for (const { study, result } of planned) if (result.finishedAt === null) makeReady(study, result)
  return { directory, planned }
}

/** What the machine gives to each system is found out again. */
function makeReady(study: Study, result: StudyResult): void {
  result.cells = planCells(study)
  if (result.heats.length > 0) result.warnings.push(pauseOf(result))
}

function readPlanned(directory: string): PlannedStudies['planned'] {
  return studyPaths(STUDIES, directory).map((path) => {
    const result = readMeasuredStudy(path)
    return { study: studyOf(result), result }
  })
}

function newestUnfinished(asked: readonly Study[]): string {
  const found = newestRun((directory) => {
    const planned = readPlanned(directory)
    const has = (study: Study) => planned.some((one) => one.study === study)
    return asked.every(has) && planned.some(({ result }) => result.finishedAt === null)
  })
  if (found !== undefined) return found
  throw new ResultError(
    'No interrupted run of these studies is in bench/results: start one with pnpm bench study.',
  )
}

function whyOther(planned: PlannedStudies['planned'], options: ResumeOptions): string | undefined {
  const lacking = options.studies.filter((study) => !planned.some((one) => one.study === study))
  if (lacking.length > 0) return `${listOf(lacking.map(({ name }) => name))} is not part of it`
  for (const { result } of planned) {
    const { settings, seed, published } = result
    const difference = differenceTo(result)
    if (difference !== undefined) return difference
    if (options.seed !== undefined && options.seed !== seed) return `its seed is ${seed}`
    if (options.profile !== undefined && options.profile !== settings.profile)
      return `it is a ${settings.profile} run`
    if (options.heats !== undefined && options.heats !== settings.heats)
      return `it has ${settings.heats} heats`
    if (options.asPublished && published === null) return 'it was begun without --as-published'
  }
  return undefined
}
