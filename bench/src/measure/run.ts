import { Guard } from '@startgrid/machine/guard.ts'
import { openCommands } from '../environments/command/environment.ts'
import { proveCells } from '../environments/conformance.ts'
import { type EnvironmentOptions, systemOf } from '../environments/environment.ts'
import { openNative } from '../environments/native/open.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Result } from '../model/result.ts'
import { runHeats } from './heats.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'

/**
 * Measures what a result plans, and fills it in place. Heats are in random order,
 * but every n-th heat of all races before the next, so that a slow minute does not hit one race alone.
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runExperiment(
  experiment: Experiment,
  result: Result,
  context: RunContext,
): Promise<void> {
  // Of several studies all were planned when the first one began.
  result.startedAt = new Date().toISOString()
  // A study of commands starts them as `race` does.
  const isOfCommands = Object.values(experiment.systems).every(({ command }) => command !== undefined)
  const guard = isOfCommands ? new Guard() : undefined
  const open = async (options: EnvironmentOptions) => {
    for (const cell of result.cells)
      cell.skipped ??= systemOf(experiment, cell).lacks?.(options.download) ?? null
    return guard === undefined
      ? openNative(experiment, result.cells, options)
      : openCommands(experiment, { ...options, guard, cores: 1 })
  }
  const running = withPreparedRun(result, { ...context, experiment, open }, async (prepared) => {
    const beganAt = performance.now()
    await prove(prepared)
    // `--max-time` does not count the proof of equality.
    prepared.endsAt += performance.now() - beganAt
    await runHeats(prepared)
  })
  await running.finally(() => guard?.close())
}

/** What the suite takes per cell, in milliseconds, so that a bar can say what is left. */
const PROOF_MS = 600

/** The contract's suite. */
async function prove({ result, experiment, start, signal, progress }: PreparedRun): Promise<void> {
  const onBegin = () => {
    progress.begin(PROOF_MS * result.cells.length)
    progress.update(0, 'checking that all apps keep the contract')
  }
  const beganAt = performance.now()
  const records = await proveCells(result.cells, { start, nginx: result.nginx, experiment, signal, onBegin })
  result.conformance = records
  const fresh = records.filter(({ remembered }) => !remembered).length
  if (fresh === 0 || signal.aborted) return
  const seconds = Math.round((performance.now() - beganAt) / 1000)
  progress.say(`That took ${seconds} s, beside the time of the run. It is remembered until the code changes.`)
}
