import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import type { Study } from './experiment.ts'
import type { StoredResult, StudyResult } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

/** The version of the format. A file of another one is measured again. */
const SCHEMA = 6

/** A file that is not a result; the message is a sentence. */
export class ResultError extends ForeseenError {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or is not a result of this version */
export function readResult(path: string): StoredResult {
  const stored = parseFile(path) as Partial<StoredResult> | null
  const { kind, schema } = stored ?? {}
  const isResult = schema === SCHEMA && (kind === 'rate' || kind === 'study')
  if (isResult) return stored as StoredResult
  throw new ResultError(
    `${path} is not a result of this version (its schema is ${JSON.stringify(schema)}, here it is ${SCHEMA}): measure again.`,
  )
}

/** @throws {ResultError} if it is not there, or not JSON */
function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code
    throw new ResultError(`${path} cannot be read (${reason}): give the result.json of a run.`, {
      cause: error,
    })
  }
}

/** The files of studies in the directory of a run, in the order in which they are measured. */
export function studyPaths(studies: readonly Pick<Study, 'name'>[], directory: string): string[] {
  return studies.map(({ name }) => join(directory, `${name}.json`)).filter((path) => existsSync(path))
}

/**
 * In one step, so that a reader or an interruption never sees half of it.
 * @throws {Error} of the file system; the old file then stays as it was
 */
export function writeResult(path: string, result: StoredResult): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, `${JSON.stringify(result, null, 2)}\n`)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** What a report of a study needs: figures without heats. */
export function recordOf(result: StudyResult): StudyResult {
  return { ...result, conformance: [], heats: [] }
}
