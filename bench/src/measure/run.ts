import type { EnvironmentOptions } from '../environments/environment.ts'
import { openNative } from '../environments/native/environment.ts'
import { analyse } from '../judge/analysis.ts'
import { analyseStudy } from '../judge/study/analysis.ts'
import type { Experiment } from '../model/experiment.ts'
import type { StoredResult } from '../model/result.ts'
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
    figures: (so: Kind) => (so.kind === 'rate' ? analyse(so) : analyseStudy(experiment, so)),
  }
  await withPreparedRun(result, preparation, (prepared) => runHeats(prepared, planOf(experiment, prepared)))
}
