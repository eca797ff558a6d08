import { setTimeout as sleep } from 'node:timers/promises'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { Spinner } from '@startgrid/machine/spin.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { Driver } from '../drivers/driver.ts'
import { openDocker } from '../environments/docker/environment.ts'
import type { Environment, EnvironmentOptions } from '../environments/environment.ts'
import { NativeEnvironment } from '../environments/native/environment.ts'
import { TargetEnvironment } from '../environments/target/environment.ts'
import { heatsWithin } from '../experiment/budget.ts'
import { expectedHeatMs, planCells } from '../experiment/cells.ts'
import type { Options } from '../experiment/options.ts'
import { clusterRecord, modeOf } from '../experiment/options.ts'
import { planTarget } from '../experiment/target.ts'
import { WORKLOADS } from '../experiment/workloads.ts'
import { analyse, isWithin } from '../judge/analysis.ts'
import type { CellSpec, RaceResult } from '../model/result.ts'
import { runHeat } from './heat.ts'
import { type HeatPlan, type HeatsRun, runHeats } from './heats.ts'
import { type RunContext, withPreparedRun } from './preparation.ts'

/** A result without measurements: the plan of a run. */
export function createResult(options: Options, command: string): RaceResult {
  return { ...createRun(options, command), kind: 'rate', analysis: null }
}

/** What all results of the grid have in common. */
export function createRun(
  options: Omit<Options, 'require' | 'keepVoided' | 'list'>,
  command: string,
): Omit<RaceResult, 'kind' | 'analysis'> {
  const { profile, custom, slices, sliceMs, pauseMs, precision, maxTimeMs } = options
  const mode = modeOf(options)
  const cells = options.target === undefined ? planCells(options) : planTarget(options)
  const heats =
    options.timeGiven && !options.heatsGiven && maxTimeMs !== null
      ? heatsWithin(maxTimeMs, { cells, mode, settings: options })
      : options.heats
  return {
    schema: 4,
    mode,
    target: options.target === undefined ? null : { origin: options.target, absent: options.absent },
    cluster: options.cluster === undefined ? null : clusterRecord(options.cluster),
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed: options.seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    driver: { name: 'startgrid', version: '', ceiling: null },
    settings: {
      profile: custom ? 'custom' : profile,
      heats,
      extensions: 0,
      slices,
      sliceMs,
      pauseMs,
      precision,
      maxTimeMs,
      cores: null,
      p99Ms: null,
    },
    warnings: [],
    cells,
    conformance: [],
    heats: [],
  }
}

/** Where the servers of a grid are, by the mode of the result. */
export async function openEnvironment(
  {
    mode,
    target,
    cluster,
    cells,
    settings,
  }: Pick<RaceResult, 'mode' | 'target' | 'cluster' | 'cells' | 'settings'>,
  options: EnvironmentOptions,
): Promise<Environment> {
  if (mode === 'docker') return openDocker(cells, options)
  if (cluster !== null) {
    // The client of Kubernetes takes a second to load.
    const { openKubernetes } = await import('../environments/kubernetes/environment.ts')
    return openKubernetes(cells, cluster, options)
  }
  if (target !== null) return new TargetEnvironment(target, settings, options)
  return new NativeEnvironment(options)
}

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. The result is filled in place.
 * @param keepVoided figures of cells that failed a gate are in the result all the same
 * @throws {LoadError} with a sentence if no load can be offered
 */
export async function runBench(
  result: RaceResult,
  { keepVoided, ...context }: RunContext<RaceResult> & { keepVoided: boolean },
): Promise<void> {
  const preparation = {
    ...context,
    openEnvironment: (options: EnvironmentOptions) => openEnvironment(result, options),
    figures: (so: RaceResult) => ({ analysis: analyse(so, { keepVoided }) }),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    const { cores } = result.settings
    const spinner = result.mode === 'native' && cores !== null ? await Spinner.start(cores.server) : undefined
    try {
      const slowness = spinner === undefined ? 1 : await slownessOf(spinner)
      await runHeats(prepared, planOfGrid(prepared, { keepVoided, spinner, slowness }))
    } finally {
      await spinner?.stop()
    }
  })
}

/** CPU time of a round, in nanoseconds, on the machine on which the times in plan/ were measured. */
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

/** What the heats of the grid are. */
export function planOfGrid(
  {
    result,
    environment,
    drivers,
  }: Pick<HeatsRun<RaceResult>, 'result'> & {
    environment: Pick<Environment, 'startServers'>
    drivers: { usual: Driver }
  },
  {
    keepVoided,
    spinner,
    slowness = 1,
  }: { keepVoided: boolean; spinner: Spinner | undefined; slowness?: number },
): HeatPlan<CellSpec> {
  const { mode, settings, cells } = result
  return {
    title: '',
    races: [...new Set(cells.map(({ race }) => race))],
    planned: settings.heats,
    most: settings.precision === null ? settings.heats : MOST_HEATS,
    expectedMs: (_, own, slices) =>
      settings.pauseMs + expectedHeatMs(own, { ...settings, slices }, mode, slowness),
    longestMs: LONGEST_HEAT_MS,
    run: (frame, own) =>
      runHeat({
        ...frame,
        cells: own,
        settings,
        slowness,
        environment,
        spinner,
        driverOf: () => drivers.usual,
        workloadOf: ({ role }) => WORKLOADS[role],
      }),
    isEnough: ({ heat }) => isEnough(result, heat),
    // A target may keep only most of the contract. The user who asks for voided figures gets them.
    keepsWrong: mode === 'target' && keepVoided,
    nameOf: ({ id }) => id,
  }
}

/** `--precision`: it ends once all intervals are narrow. Looking before the sixth heat would favour lucky runs. */
function isEnough({ settings, analysis }: RaceResult, heat: number): boolean {
  const { precision, heats } = settings
  if (precision === null || heat <= heats || analysis === null) return false
  return analysis.races.length > 0 && isWithin(analysis, precision)
}

/** A process that runs longer is another launch than one that was just started. */
const LONGEST_HEAT_MS = 60_000

const MOST_HEATS = 100
