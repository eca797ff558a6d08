import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { differenceTo } from '@startgrid/machine/provenance.ts'
import type { RaceResult, Result, ResultKind, StoredResult } from '../model/result.ts'
import { RESULTS, ResultError, readResult } from '../model/result-file.ts'
import type { Warning } from '../model/warnings.ts'

/** A run that is stored. */
export interface StoredRun<Kind extends ResultKind = ResultKind> {
  result: ResultOf<Kind>
  /** Where its files are, and go on to be. */
  directory: string
}

/**
 * The run to go on with.
 * @param name its directory or result.json; '' for the newest in bench/results
 * @param kinds those that the command measures
 * @param which `any` also takes a complete one, which can be extended
 * @throws {ResultError} if there is none, or it comes from another machine or other code: half a run each would not be one
 */
export function findRun<Kind extends ResultKind>(
  name: string,
  kinds: readonly Kind[],
  which: 'any' | 'interrupted' = 'any',
): StoredRun<Kind> {
  const directory = name === '' ? newestOf(kinds, which) : directoryOf(name)
  const result = readResult(join(directory, 'result.json'))
  if (!isOf(result, kinds))
    throw new ResultError(
      `${directory} is a run of ${commandOfKind(result.kind)}: go on with ${commandOfKind(result.kind)} --resume.`,
    )
  if (result.mode === 'target')
    throw new ResultError(
      `${directory} cannot be resumed, because nobody knows whether ${result.target?.origin} still is the same launch: start a new run.`,
    )
  if (which === 'interrupted' && result.finishedAt !== null)
    throw new ResultError(`${directory} is complete: there is nothing to resume.`)
  const difference = differenceTo(result, {
    inContainers: result.mode !== 'native',
    elsewhere: result.mode === 'kubernetes',
  })
  if (difference !== undefined)
    throw new ResultError(`${directory} cannot be resumed, because ${difference}: start a new run.`)
  return { result, directory }
}

type ResultOf<Kind extends ResultKind> = Extract<Result, { kind: Kind }>

function isOf<Kind extends ResultKind>(
  result: StoredResult,
  kinds: readonly Kind[],
): result is ResultOf<Kind> {
  return kinds.some((kind) => kind === result.kind)
}

/**
 * Plans more heats for a complete run.
 * @param more of each role; default as many as it had at first
 */
export function extendRun(result: RaceResult, more?: number): void {
  const { settings } = result
  settings.heats += more ?? Math.max(1, Math.round(settings.heats / (settings.extensions + 1)))
  settings.extensions += 1
  result.finishedAt = null
  // What was dropped has time now.
  result.warnings = result.warnings.filter(({ kind }) => kind !== 'heats-dropped')
}

/** @throws {ResultError} if it is not there */
export function directoryOf(name: string): string {
  const path = resolve(name)
  if (!existsSync(path)) throw new ResultError(`There is no ${path}: give --resume the directory of a run.`)
  return statSync(path).isDirectory() ? path : dirname(path)
}

/**
 * The newest run in bench/results that fits. Files that cannot be read are left out, such as those of another version.
 * @param fits is asked with the directory
 */
export function newestRun(fits: (directory: string) => boolean): string | undefined {
  const names = existsSync(RESULTS) ? readdirSync(RESULTS).toSorted().reverse() : []
  const found = names.find((name) => {
    try {
      return fits(join(RESULTS, name))
    } catch {
      return false
    }
  })
  return found && join(RESULTS, found)
}

function newestOf(kinds: readonly ResultKind[], which: 'any' | 'interrupted'): string {
  const found = newestRun((directory) => {
    const { finishedAt, kind, mode } = readResult(join(directory, 'result.json'))
    return (which === 'any' || finishedAt === null) && kinds.some((one) => one === kind) && mode !== 'target'
  })
  if (found !== undefined) return found
  throw new ResultError(
    `No ${which === 'any' ? '' : 'interrupted '}run of ${commandOfKind(kinds[0] ?? 'rate')} is in bench/results: start one.`,
  )
}

/** As a person types it. */
export function commandOfKind(kind: StoredResult['kind']): string {
  return kind === 'rate' ? 'pnpm bench' : `pnpm bench ${kind}`
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
