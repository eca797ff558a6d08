import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ParseArgsOptionsConfig } from 'node:util'
import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { analyse } from '../judge/analysis.ts'
import { deriveWarnings, observedWarnings } from '../judge/derive-warnings.ts'
import { isRace, type Result } from '../model/result.ts'
import { readResult } from '../model/result-file.ts'
import { analyseOpenLoop } from '../openloop/analyse.ts'

/** Results on disk, as commands are given them. */

export interface Stored {
  result: Result
  /** Where its reports are. */
  directory: string
}

/**
 * @param path a result.json, or the directory of a run
 * @throws {ResultError} if there is no result, or it does not fit the schema
 */
export function openStored(path: string): Stored {
  const place = resolve(path)
  const isDirectory = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
  const file = isDirectory ? join(place, 'result.json') : place
  return { result: readResult(file), directory: dirname(file) }
}

/** Works the figures of a result, and the warnings that follow from them, out again from what was measured. */
export function analyseAgain(stored: Result, { keepVoided }: { keepVoided: boolean }): Result {
  const again = isRace(stored)
    ? { ...stored, analysis: analyse(stored, { keepVoided }) }
    : analyseOpenLoop(stored)
  return { ...again, warnings: [...observedWarnings(stored), ...deriveWarnings(again)] }
}

/**
 * Splits words into options and the results that are named.
 * @param command as a person types it
 * @param count how many results there must be
 * @throws {UsageError} in one sentence
 */
export function parseStored<const Config extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Config,
  { command, count }: { command: string; count: number },
) {
  const { values, positionals } = parseCommandLine(args, options, command)
  const needed = count === 1 ? 'one result' : `${count} results`
  if (positionals.length !== count && !args.includes('--help'))
    throw new UsageError(
      `${command} takes ${needed}, not ${positionals.length}. ${command} --help shows how.`,
    )
  return { values, paths: positionals }
}
