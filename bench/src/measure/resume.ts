import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { differenceTo } from '@startgrid/machine/provenance.ts'
import type { Result } from '../model/result.ts'
import { RESULTS, ResultError, readResult } from '../model/result-file.ts'
import type { Warning } from '../model/warnings.ts'

export interface Unfinished {
  result: Result
  /** Where its files are, and go on to be. */
  directory: string
}

/**
 * The interrupted run to go on with.
 * @param name its directory or result.json; '' for the newest in bench/results
 * @throws {ResultError} if there is none, it is complete, or it comes from another machine or other code: half a run each would
 * not be one
 */
export function findUnfinished(name: string): Unfinished {
  const directory = name === '' ? newestUnfinished() : directoryOf(name)
  const result = readResult(join(directory, 'result.json'))
  if (!isRace(result))
    throw new ResultError(
      `${directory} is a run of pnpm bench ${result.kind}, which cannot be resumed: start it again.`,
    )
  if (result.mode === 'target')
    throw new ResultError(
      `${directory} cannot be resumed, because nobody knows whether ${result.target?.origin} still is the same launch: start a new run.`,
    )
  if (result.finishedAt !== null)
    throw new ResultError(`${directory} is complete: there is nothing to resume.`)
  const difference = differenceTo(result, { inContainers: result.mode === 'docker' })
  if (difference !== undefined)
    throw new ResultError(`${directory} cannot be resumed, because ${difference}: start a new run.`)
  return { result, directory }
}

/** @throws {ResultError} if it is not there */
export function directoryOf(name: string): string {
  const path = resolve(name)
  if (!existsSync(path)) throw new ResultError(`There is no ${path}: give --resume the directory of a run.`)
  return statSync(path).isDirectory() ? path : dirname(path)
}

function newestUnfinished(): string {
  const names = existsSync(RESULTS) ? readdirSync(RESULTS).toSorted().reverse() : []
  const found = names.find((name) => isUnfinished(join(RESULTS, name, 'result.json')))
  if (found === undefined)
    throw new ResultError('No interrupted run is in bench/results: start one with pnpm bench.')
  return join(RESULTS, found)
}

function isUnfinished(path: string): boolean {
  try {
    const result = readResult(path)
    return result.finishedAt === null && isRace(result) && result.mode !== 'target'
  } catch {
    return false // not a result, or of another version
  }
}

function isRace({ kind }: Result): boolean {
  return kind === 'rate' || kind === 'selfcheck'
}

interface Interrupted {
  startedAt: string
  heats: readonly { startedAt: string; seconds: number }[]
}

/** How long nothing was measured, for the reader. */
export function pauseOf({ startedAt, heats }: Interrupted): Warning {
  const last = heats.at(-1)
  const until = last ? Date.parse(last.startedAt) + last.seconds * 1000 : Date.parse(startedAt)
  return { kind: 'resumed', pauseSeconds: Math.round((Date.now() - until) / 1000) }
}
