import { join } from 'node:path'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import type { RunContext } from '../measure/preparation.ts'
import { prepareOutput, writeReports } from '../report/output.ts'
import { isStudy } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import { writeResult } from '../result/result-file.ts'
import { sayEnd } from './exit-code.ts'
import type { Program } from './program.ts'

/** How something is measured. @throws {ForeseenError} if it cannot begin */
export type Measure = (context: Omit<RunContext, 'download'>) => Promise<Result>

interface Wanted {
  output: string | undefined
  json: string | undefined
  /** Of `--fail-on-regression`, as a part of 1. */
  failOn?: number | null
}

/**
 * What the grid, studies and a race of commands do alike: each is measured until its end or an interruption, and reported.
 * @returns the exit code
 */
export async function measureAndReport(
  all: readonly Measure[],
  { output, json, failOn = null }: Wanted,
  { results }: Program,
): Promise<number> {
  const directory = prepareOutput(output, json, results)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const store = (result: Result) => writeResult(join(directory, `${nameOf(result, 'result')}.json`), result)
  // What cannot begin leaves nothing.
  const save = (result: Result) => {
    if (result.heats.length > 0) store(result)
  }
  let exitCode = 0
  for (const measure of all) {
    let result: Result
    try {
      result = await measure({ progress, signal, save })
    } catch (error) {
      if (signal.aborted) break
      throw error
    } finally {
      progress.stop()
    }
    store(result) // what could not be saved is an error now
    const end = sayEnd(result, failOn, signal.aborted)
    exitCode = Math.max(exitCode, end.code)
    await writeReports(result, join(directory, nameOf(result, 'report')), { json, closing: end.sentences })
    if (signal.aborted) break
  }
  return signal.aborted ? code() : exitCode
}

/** Of its files: one run may measure several studies. */
function nameOf({ experiment }: Result, otherwise: string): string {
  return isStudy(experiment) ? experiment.name : otherwise
}
