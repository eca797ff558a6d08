import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ForeseenError } from '@startgrid/cli/arguments.ts'
import type { Result } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

/** The version of the format. A file of another one is measured again. */
const SCHEMA = 7

/** A file that is not a result; the message is a sentence. */
export class ResultError extends ForeseenError {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or is not a result of this version */
export function readResult(path: string): Result {
  const stored = parseFile(path) as Partial<Result> | null
  const { experiment, schema } = stored ?? {}
  if (schema === SCHEMA && experiment !== undefined) return stored as Result
  throw new ResultError(
    `${path} is not a result of this version (its schema is ${JSON.stringify(schema)}, here it is ${SCHEMA}): measure again.`,
  )
}

/**
 * The result in a file, or those in the directory of a run: one that measured several studies has several.
 * @throws {ResultError} as `readResult`
 */
export function openResults(path: string): { result: Result; file: string }[] {
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  const single = isDirectory ? join(path, 'result.json') : path
  const files = isDirectory && !existsSync(single) ? globSync('*.json', { cwd: path }).toSorted() : []
  const paths = files.length === 0 ? [single] : files.map((name) => join(path, name))
  return paths.map((file) => ({ result: readResult(file), file }))
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

/**
 * In one step, so that a reader or an interruption never sees half of it.
 * @throws {Error} of the file system; the old file then stays as it was
 */
export function writeResult(path: string, result: Result): void {
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
