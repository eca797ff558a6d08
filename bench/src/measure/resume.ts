import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { differenceTo } from '@startgrid/machine/provenance.ts'
import { isRace, type RaceResult, type StoredResult } from '../model/result.ts'
import { RESULTS, ResultError, readResult } from '../model/result-file.ts'
import type { Warning } from '../model/warnings.ts'

/** A run that is stored. */
export interface StoredRun {
  result: RaceResult
  /** Where its files are, and go on to be. */
  directory: string
}

/** `any` also takes a complete one, which can be extended. */
type Which = 'any' | 'interrupted'

/**
 * The run of the grid to go on with.
 * @param name its directory or result.json; '' for the newest in bench/results
 * @throws {ResultError} as `findResults`
 */
export function findRun(name: string): StoredRun {
  const read = (directory: string): [RaceResult] => {
    const result = readResult(join(directory, 'result.json'))
    if (isRace(result)) return [result]
    throw new ResultError(`${directory} is a run of pnpm bench study: go on with pnpm bench study --resume.`)
  }
  const { directory, results } = findResults(name, { read, which: 'any', what: 'pnpm bench' })
  return { directory, result: results[0] }
}

interface Search<Results extends readonly StoredResult[]> {
  /** The results of a run, in the order in which they are measured. */
  read(directory: string): Results
  which: Which
  /** Of what there is none: `pnpm bench study`. */
  what: string
  /** Whether the newest run may be it. */
  fits?(results: Results): boolean
  /** What the person said otherwise than at its beginning: a clause. */
  whyOther?(results: Results): string | undefined
}

/**
 * The results of the run to go on with, in one file or in several.
 * @param name its directory or one of its files; '' for the newest in bench/results
 * @throws {ResultError} if there is none, it is complete, or it comes from another machine or other code: half a run each would not be one
 */
export function findResults<Results extends readonly StoredResult[]>(
  name: string,
  search: Search<Results>,
): { directory: string; results: Results } {
  const { read, which, whyOther } = search
  const directory = name === '' ? newestRun(search) : directoryOf(name)
  const results = read(directory)
  if (results.length === 0)
    throw new ResultError(`${directory} has no result of a study: give --resume the directory of a run.`)
  if (which === 'interrupted' && !results.some(isUnfinished))
    throw new ResultError(`${directory} is complete: there is nothing to resume.`)
  const reason = whyOther?.(results) ?? results.map(whyUnlike).find((one) => one !== undefined)
  if (reason !== undefined)
    throw new ResultError(`${directory} cannot be resumed, because ${reason}: start a new run.`)
  return { directory, results }
}

function isUnfinished({ finishedAt }: StoredResult): boolean {
  return finishedAt === null
}

function whyUnlike(result: StoredResult): string | undefined {
  const { target } = result
  if (target !== null) return `nobody knows whether ${target.origin} still is the same launch`
  return differenceTo(result, { inContainers: false, elsewhere: false })
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
function directoryOf(name: string): string {
  const path = resolve(name)
  if (!existsSync(path)) throw new ResultError(`There is no ${path}: give --resume the directory of a run.`)
  return statSync(path).isDirectory() ? path : dirname(path)
}

/** In bench/results. Files that cannot be read are left out, such as those of another version. */
function newestRun<Results extends readonly StoredResult[]>({
  read,
  which,
  what,
  fits,
}: Search<Results>): string {
  const names = existsSync(RESULTS) ? readdirSync(RESULTS).toSorted().reverse() : []
  const found = names.find((name) => {
    try {
      const results = read(join(RESULTS, name))
      const isOpen = which === 'any' || results.some(isUnfinished)
      return (
        isOpen && results.every(({ target }) => target === null) && (fits?.(results) ?? results.length > 0)
      )
    } catch {
      return false
    }
  })
  if (found !== undefined) return join(RESULTS, found)
  throw new ResultError(
    `No ${which === 'any' ? '' : 'interrupted '}run of ${what} is in bench/results: start one.`,
  )
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
