import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Result } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

const SCHEMA = fileURLToPath(new URL('../../result.schema.json', import.meta.url))

let compiled: ValidateFunction | undefined

/** Checks data against the published schema. @returns what is wrong with it, nothing if it is right */
export function validateResult(data: unknown): string[] {
  compiled ??= new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  const validate = compiled
  if (validate(data)) return []
  return (validate.errors ?? []).map((error: ErrorObject) => `${error.instancePath || '/'} ${error.message}`)
}

/** A file that is not a result; the message is a sentence. */
export class ResultError extends Error {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema; results of schema 3 are read as well */
export function readResult(path: string): Result {
  const stored = parse(path)
  const version = versionOf(stored)
  if (version !== 3 && version !== 4) {
    throw new ResultError(
      `${path} is not a result of this version (its schema is ${JSON.stringify(version)}, here it is 4): measure again.`,
    )
  }
  const data = version === 3 ? fromSchema3(stored as ResultOfSchema3) : stored
  const [first] = validateResult(data)
  if (first !== undefined) throw new ResultError(`${path} is not a result: ${first}.`)
  return data as Result
}

function versionOf(data: unknown): unknown {
  return (data as { schema?: unknown } | null)?.schema
}

/** What schema 4 has otherwise. */
type ResultOfSchema3 = Omit<Result, 'schema' | 'warnings'> & { schema: 3; cautions?: Result['warnings'] }

/** Figures have to be made again: gates had other names, and slices were judged otherwise. */
function fromSchema3({ cautions = [], ...stored }: ResultOfSchema3): Result {
  const figures = { analysis: null, capacity: null, latency: null, overload: null }
  return { ...stored, ...figures, schema: 4, warnings: cautions }
}

function parse(path: string): unknown {
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
