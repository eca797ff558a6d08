import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Result } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

/**
 * Checks data against a published schema.
 * @param file in bench
 * @returns a function that says what is wrong with data, nothing if it is right
 */
export function createValidator(file: string): (data: unknown) => string[] {
  let compiled: ValidateFunction | undefined
  return (data) => {
    const schema = fileURLToPath(new URL(`../../${file}`, import.meta.url))
    compiled ??= new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(schema, 'utf8')))
    if (compiled(data)) return []
    return (compiled.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  }
}

export const validateResult = createValidator('result.schema.json')

/** A file that is not a result; the message is a sentence. */
export class ResultError extends Error {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema */
export function readResult(path: string): Result {
  return readChecked(path, 'a result', validateResult)
}

/**
 * @param what it is, such as `a result`
 * @throws {ResultError} if it cannot be read, is of another version, or does not fit
 */
export function readChecked<Kind>(path: string, what: string, validate: (data: unknown) => string[]): Kind {
  const stored = parseFile(path)
  const version = (stored as { schema?: unknown } | null)?.schema
  if (version !== 4)
    throw new ResultError(
      `${path} is not ${what} of this version (its schema is ${JSON.stringify(version)}, here it is 4): measure again.`,
    )
  const [first] = validate(stored)
  if (first !== undefined) throw new ResultError(`${path} is not ${what}: ${first}.`)
  return stored as Kind
}

/** @throws {ResultError} if it is not there, or not JSON */
export function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code
    throw new ResultError(`${path} cannot be read (${reason}): give the result.json of a run.`, {
      cause: error,
    })
  }
}

/** @throws {Error} of the file system; the old file then stays as it was */
export function writeResult(path: string, result: Result): void {
  writeJsonFile(path, result)
}
