import { Guard } from '@startgrid/machine/guard.ts'
import type { Experiment } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import { openCommands } from '../servers/command/open.ts'
import { proveCells } from '../servers/conformance.ts'
import { openNative } from '../servers/native/open.ts'
import { type OpenOptions, systemOf } from '../servers/servers.ts'
import { runHeats } from './heats.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'

/**
 * Measures what a result plans, and fills it in place. Heats are in random order,
 * but every n-th heat of all races before the next, so that a slow minute does not hit one race alone.
 * @param download whether what a study needs may be fetched
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runExperiment(
  experiment: Experiment,
  result: Result,
  context: RunContext,
  download = false,
): Promise<Result> {
  // Of several studies all were planned when the first one began.
  result.startedAt = new Date().toISOString()
  // A study of commands starts them as `race` does.
  const isOfCommands = Object.values(experiment.systems).every(({ command }) => command !== undefined)
  const guard = isOfCommands ? new Guard() : undefined
  const open = async (options: OpenOptions) => {
    for (const cell of result.cells) cell.skipped ??= systemOf(experiment, cell).lacks?.(download) ?? null
    return guard === undefined
      ? openNative(experiment, result.cells, options)
      : openCommands(experiment, { ...options, guard, cores: 1, seed: result.seed })
  }
  const running = withPreparedRun(result, { ...context, experiment, open }, async (prepared) => {
    const beganAt = performance.now()
    await prove(prepared)
    // `--max-time` does not count the proof of equality.
    prepared.endsAt += performance.now() - beganAt
    await runHeats(prepared)
  })
  await running.finally(() => guard?.close())
  return result
}

/** What the suite takes per cell, in milliseconds, so that a bar can say what is left. */
const PROOF_MS = 600

async function prove({ result, experiment, start, signal, progress }: PreparedRun): Promise<void> {
  let beganAt: number | undefined
  const onBegin = () => {
    beganAt = performance.now()
    progress.begin(PROOF_MS * result.cells.length)
    progress.update(0, 'checking that all apps keep the contract')
  }
  const options = { start, nginx: result.nginx, experiment, signal, onBegin }
  result.conformance = await proveCells(result.cells, options)
  if (beganAt === undefined || signal.aborted) return
  const seconds = Math.round((performance.now() - beganAt) / 1000)
  progress.say(`That took ${seconds} s, beside the time of the run. It is remembered until the code changes.`)
}
