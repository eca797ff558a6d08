import { UsageError } from '@startgrid/cli/arguments.ts'
import { plural } from '@startgrid/cli/text.ts'
import { gridExperiment } from '../../experiment/grid.ts'
import { createResult } from '../../experiment/result.ts'
import { LEAST_HEATS, leastTimeMs } from '../../experiment/time.ts'
import { runExperiment } from '../../measure/run.ts'
import { commandOf } from '../../report/output.ts'
import type { Result } from '../../result/result.ts'
import { describePlan, type Measure, measureAndReport } from '../measure.ts'
import { readOptions } from '../options.ts'
import type { Program } from '../program.ts'

/** `pnpm bench`: races cells in heats. @returns the exit code */
export async function gridCommand(args: readonly string[], program: Program): Promise<number> {
  const options = readOptions(args)
  const { dryRun } = options
  const experiment = gridExperiment(options)
  const result = createResult(experiment, options, commandOf('pnpm bench', args, options.seed))
  assertFits(result)
  if (dryRun) {
    process.stdout.write(describePlan(plural(result.cells.length, 'cell'), experiment, result))
    return 0
  }
  const measure: Measure = (context) => runExperiment(experiment, result, context)
  return measureAndReport([measure], options, program)
}

/** @throws {UsageError} if the time is too short for two heats of every role */
function assertFits(result: Result): void {
  const { maxTimeMs, heats } = result.settings
  const leastMs = leastTimeMs(result)
  if (maxTimeMs === null || maxTimeMs >= leastMs || heats < LEAST_HEATS) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for two heats of every role, without which there are no intervals: ` +
      `give it at least ${Math.ceil(leastMs / 1000)}s, or fewer apps with --only.`,
  )
}
