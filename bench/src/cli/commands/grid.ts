import { UsageError } from '@startgrid/cli/arguments.ts'
import { assertResponding } from '../../environments/running/origin.ts'
import { heatsWithin, LEAST_HEATS, leastTimeMs } from '../../experiment/budget.ts'
import { experimentOf } from '../../experiment/grid.ts'
import type { Options } from '../../experiment/options.ts'
import { createResult } from '../../experiment/result.ts'
import { extendRun, findRun, pauseOf, type StoredRun } from '../../measure/resume.ts'
import { runExperiment } from '../../measure/run.ts'
import type { RaceResult } from '../../model/result.ts'
import { commandOf, prepareOutput, publishRace } from '../../report/output.ts'
import { describePlan } from '../dry-run.ts'
import { whyRaceFailed } from '../exit-code.ts'
import { readOptions } from '../options.ts'
import { runMeasurement } from '../run-measurement.ts'

/** `pnpm bench`: races cells in heats. @returns the exit code */
export async function gridCommand(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const planned = () => createResult(options, '')
  if (options.timeGiven && options.resume === undefined) assertFits(planned())
  if (options.list)
    process.stdout.write(
      planned()
        .cells.map(({ id }) => `${id}\n`)
        .join(''),
    )
  else if (options.dryRun) process.stdout.write(describePlan(planned()))
  else return race(options, await prepare(options, args))
  return 0
}

/** @throws {UsageError} if the time is too short for two heats of every role */
function assertFits({ cells, settings, mode }: RaceResult): void {
  const maxTimeMs = settings.maxTimeMs ?? Number.POSITIVE_INFINITY
  const leastMs = leastTimeMs({ cells, settings, mode })
  if (maxTimeMs >= leastMs || settings.heats < LEAST_HEATS) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for two heats of every role, without which there are no intervals: ` +
      `give it at least ${Math.ceil(leastMs / 1000)}s, or fewer apps with --only.`,
  )
}

async function prepare(options: Options, args: readonly string[]): Promise<StoredRun<'rate'>> {
  if (options.resume !== undefined) return goOn(options)
  if (options.target !== undefined) await assertResponding(options.target)
  return begin(options, args)
}

function begin(options: Options, args: readonly string[]): StoredRun<'rate'> {
  const command = commandOf('pnpm bench', args, options.seed)
  return {
    result: createResult(options, command),
    directory: prepareOutput(options.output, options.json),
  }
}

/** A complete run gets more heats: those that were asked for, those that fit into the time, or as many as it had. */
function goOn(options: Options): StoredRun<'rate'> {
  const found = findRun(options.resume ?? '', ['rate'])
  const { result } = found
  const { settings } = result
  if (options.timeGiven) settings.maxTimeMs = options.maxTimeMs
  if (result.finishedAt === null) {
    result.warnings.push(pauseOf(result))
    return found
  }
  const fitting =
    options.timeGiven && options.maxTimeMs !== null ? heatsWithin(options.maxTimeMs, result) : undefined
  extendRun(result, options.heatsGiven ? options.heats : fitting)
  return found
}

async function race(
  { json, download, keepVoided, require, publish }: Options,
  stored: StoredRun<'rate'>,
): Promise<number> {
  const { result } = stored
  const code = await runMeasurement(stored, {
    json,
    download,
    run: (context) => runExperiment(experimentOf(result), result, { ...context, keepVoided }),
    whyFailed: () => whyRaceFailed(result, require),
  })
  if (publish && code === 0) publishRace(result)
  return code
}
