import type { Experiment } from '../model/experiment.ts'
import type { Run } from '../model/result.ts'
import { withCeiling } from './ceiling.ts'
import { openDocker } from './docker/environment.ts'
import type { Environment, EnvironmentOptions } from './environment.ts'
import { openNative } from './native/environment.ts'
import { openRunning } from './running/environment.ts'

/**
 * Gets the environment of a result ready. Cells that cannot run there are marked as skipped.
 * @throws {UsageError} with a sentence: what is missing
 */
export async function openEnvironment(
  experiment: Experiment,
  { mode, target, cluster, cells, settings }: Pick<Run, 'mode' | 'target' | 'cluster' | 'cells' | 'settings'>,
  options: EnvironmentOptions,
): Promise<Environment> {
  const own = withCeiling(experiment)
  if (mode === 'docker') return openDocker(own, cells, options)
  if (cluster !== null) {
    // The client of Kubernetes takes a second to load.
    const { openKubernetes } = await import('./kubernetes/environment.ts')
    return openKubernetes(own, cells, { ...options, record: cluster })
  }
  if (target !== null) return openRunning(own, { ...options, pauseMs: settings.pauseMs })
  return openNative(own, cells, options)
}
