import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createRace } from '../experiment/race.ts'
import { measuredPart } from '../experiment/study.ts'
import { deriveWarnings } from '../judge/derive-warnings.ts'
import { figuresOf } from '../judge/figures.ts'
import type { Experiment, Study } from '../model/experiment.ts'
import type { StoredResult, StudyResult } from '../model/result.ts'
import { ResultError, readResult, recordOf, studyPaths } from '../model/result-file.ts'
import { observedOf } from '../model/warnings.ts'
import type { Document } from '../report/document.ts'
import { documentOf } from '../report/grid.ts'
import { documentOfStudy } from '../report/study/document.ts'
import { documentOfRace } from '../report/study/race-document.ts'

/** Results on disk, as commands are given them. */

interface Stored {
  result: StoredResult
  /** Where its reports are. */
  directory: string
}

/**
 * @param studies those whose results there may be
 * @param path a file, or the directory of a run: of one that measured several studies it has several results
 * @throws {ResultError} if there is no result, or it does not fit the schema
 */
export function openStored(path: string, studies: readonly Study[]): [Stored, ...Stored[]] {
  const place = resolve(path)
  const isDirectory = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
  const [first, ...others] = isDirectory ? studyPaths(studies, place) : []
  const open = (file: string): Stored => ({ result: readMeasured(file), directory: dirname(file) })
  if (first !== undefined) return [open(first), ...others.map(open)]
  return [open(isDirectory ? join(place, 'result.json') : place)]
}

/** @throws {ResultError} if it is kept for docs: then it has figures alone */
function readMeasured(path: string): StoredResult {
  const result = readResult(path)
  const isMeasured = result.heats.some(
    ({ slices, trials, probes }) => slices.length + trials.length + probes.length > 0,
  )
  if (result.analysis === null || isMeasured) return result
  throw new ResultError(`${path} has figures only, without what was measured: give the directory of a run.`)
}

/** @throws {ResultError} if it is not the result of a study */
export function readMeasuredStudy(path: string): StudyResult {
  const result = readMeasured(path)
  if (result.kind === 'study') return result
  throw new ResultError(`${path} is not the result of a study.`)
}

/** What was measured. @throws {ResultError} if there is no such study here */
function experimentOf(result: StudyResult, studies: readonly Study[]): Experiment {
  const { race } = result
  if (race === undefined) return studyOf(result, studies)
  const requests = race.requests.map(({ path, method, weight }) => ({
    path,
    method,
    ...(weight !== null && { weight }),
  }))
  return createRace({ ...race, requests, systems: race.systems.map(({ name }) => ({ name })) })
}

/** The part of its study that a result is of. @throws {ResultError} if there is no such study here */
export function studyOf(result: Pick<StudyResult, 'study' | 'cells'>, studies: readonly Study[]): Study {
  const { study: name } = result
  const study = studies.find((one) => one.name === name)
  if (study === undefined)
    throw new ResultError(`The study ${name} is not known here: its repository has it.`)
  return measuredPart(study, result)
}

/** What a result says, and the path of its reports without an ending. @throws {ResultError} if there is no such study here */
export function reportOf(
  result: StoredResult,
  { directory, studies }: { directory: string; studies: readonly Study[] },
): { document: Document; path: string } {
  if (result.kind !== 'study') return { document: documentOf(result), path: `${directory}/report` }
  const record = recordOf(result)
  return result.race === undefined
    ? { document: documentOfStudy(studyOf(result, studies), record), path: `${directory}/${result.study}` }
    : { document: documentOfRace(record), path: `${directory}/report` }
}

/** Works the figures of a result, and the warnings that follow from them, out again from what was measured. */
export function analyseAgain<Kind extends StoredResult>(stored: Kind, studies: readonly Study[]): Kind {
  const experiment = stored.kind === 'study' ? experimentOf(stored, studies) : undefined
  const again = { ...stored, analysis: figuresOf(stored, experiment) }
  return { ...again, warnings: [...observedOf(stored.warnings), ...deriveWarnings(again)] }
}
