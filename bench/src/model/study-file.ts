import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import type { Study } from './experiment.ts'
import { createValidator, parseFile, ResultError, readChecked } from './result-file.ts'
import type { StudyRecord, StudyResult } from './study-result.ts'

/** Results of studies as files: bench/study.schema.json describes them. */

/** @returns what is wrong with it, nothing if it is right */
export const validateStudy = createValidator('study.schema.json')

/** @throws {ResultError} if the file cannot be read, or does not fit the schema */
export function readStudyRecord(path: string): StudyRecord {
  return readChecked(path, 'the result of a study', validateStudy)
}

/** The files of studies in the directory of a run, in the order in which they are measured. */
export function studyPaths(studies: readonly Pick<Study, 'name'>[], directory: string): string[] {
  return studies.map(({ name }) => join(directory, `${name}.json`)).filter((path) => existsSync(path))
}

/** Whether a file says that it is of a study. */
export function isStudyFile(path: string): boolean {
  return (parseFile(path) as { study?: unknown } | null)?.study !== undefined
}

/** With its heats. @throws {ResultError} as `readStudyRecord`, and if it has none */
export function readStudyResult(path: string): StudyResult {
  const record = readStudyRecord(path)
  if ('heats' in record && 'conformance' in record) return record as StudyResult
  throw new ResultError(`${path} has figures only, without what was measured: give the directory of a run.`)
}

/** @throws {Error} of the file system; the old file then stays as it was */
export function writeStudy(path: string, result: StudyResult | StudyRecord): void {
  writeJsonFile(path, result)
}

/** What reports need: without the slices, and of the gates only those that failed. */
export function recordOf({ heats: _, conformance: __, ...result }: StudyResult): StudyRecord {
  const { analysis } = result
  if (analysis === null) return result
  const cells = analysis.cells.map((cell) => ({
    ...cell,
    gates: cell.gates.filter(({ verdict }) => verdict === 'failed'),
  }))
  return { ...result, analysis: { ...analysis, cells } }
}
