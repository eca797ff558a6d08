import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { type Machine, readMachine } from '@startgrid/machine/machine.ts'
import { differenceTo, readVersions, type Versions } from '@startgrid/machine/provenance.ts'
import type { Cell } from '../run.ts'
import type { Size } from '../subject/subject.ts'

/** A matrix as it is stored. */
export interface Result {
  schema: 1
  size: Size
  /** Of what is chosen at random. */
  seed: number
  /** ISO 8601, UTC. */
  startedAt: string
  /** Null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats it. */
  command: string
  machine: Machine
  versions: Versions
  /** What stands in front, as a phrase. */
  nginx: string
  /** What is tried, in the order of the matrix. */
  faults: string[]
  apps: string[]
  /** In the order in which they were known. */
  cells: Cell[]
}

/** The newest run of this checkout. */
export const LATEST = fileURLToPath(new URL('../../../../.cache/reliability/result.json', import.meta.url))

/** The checked-in result, from which the page is made. */
export const STORED = fileURLToPath(new URL('../../../../docs/reliability.json', import.meta.url))

/** A file that is not a result, or not the one that is needed; the message is a sentence. */
export class ResultError extends ForeseenError {
  override name = 'ResultError'
}

/** A matrix of which nothing was tried yet. */
export function createResult(
  plan: Pick<Result, 'size' | 'seed' | 'command' | 'nginx' | 'faults' | 'apps'>,
): Result {
  return {
    schema: 1,
    ...plan,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    machine: readMachine(),
    versions: readVersions(),
    cells: [],
  }
}

/** @throws {ResultError} if there is none, or it is of another version */
export function readResult(path: string): Result {
  const result = parse(path)
  if (result?.schema !== 1)
    throw new ResultError(`${path} is not a result of this version: run pnpm reliability again.`)
  return result
}

function parse(path: string): Result | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Result | null
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code
    throw new ResultError(`${path} cannot be read (${reason}): run pnpm reliability first.`, { cause: error })
  }
}

/**
 * The interrupted run to go on with, or one in which something was undecided, without that.
 * @throws {ResultError} if there is none, or half of it would come from another machine or other code
 */
export function readUnfinished(path = LATEST): Result {
  const result = readResult(path)
  const cells = result.cells.filter(({ state }) => state !== 'undecided')
  if (result.finishedAt !== null && cells.length === result.cells.length)
    throw new ResultError('The last run is complete: there is nothing to resume.')
  const difference = differenceTo(result)
  if (difference !== undefined)
    throw new ResultError(`The last run cannot be resumed, because ${difference}: start a new one.`)
  return { ...result, finishedAt: null, cells }
}

/** @throws {Error} of the file system; the old file then stays as it was */
export function writeResult(path: string, result: Result): void {
  writeJsonFile(path, result)
}
