import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { measuredPart } from '../experiment/study.ts'
import type { Study } from '../model/experiment.ts'
import type { StoredResult, StudyResult } from '../model/result.ts'
import { ResultError, readResult, recordOf, studyPaths } from '../model/result-file.ts'
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
 * @throws {ResultError} if there is no result
 */
export function openStored(path: string, studies: readonly Study[]): [Stored, ...Stored[]] {
  const place = resolve(path)
  const isDirectory = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
  const [first, ...others] = isDirectory ? studyPaths(studies, place) : []
  const open = (file: string): Stored => ({ result: readResult(file), directory: dirname(file) })
  if (first !== undefined) return [open(first), ...others.map(open)]
  return [open(isDirectory ? join(place, 'result.json') : place)]
}

/** The part of its study that a result is of. @throws {ResultError} if there is no such study here */
function studyOf(result: Pick<StudyResult, 'study' | 'cells'>, studies: readonly Study[]): Study {
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
