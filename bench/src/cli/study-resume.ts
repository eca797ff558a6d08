import { listOf } from '@startgrid/cli/text.ts'
import { STUDIES } from '../../studies/index.ts'
import { planCells } from '../experiment/cells.ts'
import { findResults, pauseOf } from '../measure/resume.ts'
import type { Study } from '../model/experiment.ts'
import type { StudyResult } from '../model/result.ts'
import { studyPaths } from '../model/result-file.ts'
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
