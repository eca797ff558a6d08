import { setTimeout as sleep } from 'node:timers/promises'
import { Spinner } from '@startgrid/machine/spin.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { EnvironmentOptions } from '../environments/environment.ts'
import { openNative } from '../environments/native/environment.ts'
import { figuresOf } from '../judge/figures.ts'
import type { Experiment } from '../model/experiment.ts'
import { isRace, type StoredResult } from '../model/result.ts'
import { runHeats } from './heats.ts'
import { planOf } from './plan.ts'
import { type RunContext, withPreparedRun } from './preparation.ts'

/**
 * Measures what a result plans, and fills it in place. Heats are in random order,
 * but every n-th heat of all races before the next, so that a slow minute does not hit one race alone.
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runExperiment<Kind extends StoredResult>(
  experiment: Experiment,
  result: Kind,
  context: RunContext<Kind>,
): Promise<void> {
  // Of several studies all were planned when the first one began.
  result.startedAt = new Date().toISOString()
  const preparation = {
    ...context,
    experiment,
    openEnvironment: (options: EnvironmentOptions) => openNative(experiment, result.cells, options),
    figures: (so: Kind) => figuresOf(so, experiment),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    const { cores } = result.settings
    const isPaced = isRace(result) && cores !== null
    const spinner = isPaced ? await Spinner.start(cores.server) : undefined
    try {
      const slowness = spinner === undefined ? 1 : await slownessOf(spinner)
      await runHeats(prepared, planOf(experiment, prepared, { spinner, slowness }))
    } finally {
      await spinner?.stop()
    }
  })
}

/** CPU time of a round, in nanoseconds, on the machine on which the times in experiment/ were measured. */
const REFERENCE_ROUND_NS = 6.5

const SPINS = 25
const SPIN_EVERY_MS = 20

/** What work costs here, divided by what it costs where the plan was measured: at least 1, for a faster machine has not been seen. Takes half a second. */
async function slownessOf(spinner: Pick<Spinner, 'spin' | 'rounds'>): Promise<number> {
  const seconds: number[] = []
  for (let count = 0; count < SPINS; count++) {
    const spin = await spinner.spin()
    if (spin !== null) seconds.push(spin.cpuSeconds)
    await sleep(SPIN_EVERY_MS)
  }
  if (seconds.length === 0 || spinner.rounds === 0) return 1
  return Math.max(1, (median(seconds) * 1e9) / spinner.rounds / REFERENCE_ROUND_NS)
}
