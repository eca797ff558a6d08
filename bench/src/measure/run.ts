import { setTimeout as sleep } from 'node:timers/promises'
import { Spinner } from '@startgrid/machine/spin.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { Drivers } from '../drivers/create.ts'
import { openDocker } from '../environments/docker/environment.ts'
import type { Environment, EnvironmentOptions } from '../environments/environment.ts'
import { NativeEnvironment } from '../environments/native/environment.ts'
import { StudyEnvironment } from '../environments/study/environment.ts'
import { TargetEnvironment } from '../environments/target/environment.ts'
import { expectedRaceMs } from '../experiment/study.ts'
import { isWithin } from '../judge/analysis.ts'
import { figuresOf } from '../judge/figures.ts'
import { openRateOf } from '../judge/study/open-figures.ts'
import { type Experiment, isProbe, type Race } from '../model/experiment.ts'
import { isRace, type RaceResult, type Run, type StoredResult } from '../model/result.ts'
import { attempt, type Course, measurePasses, runHeat } from './heat.ts'
import { type HeatPlan, runHeats } from './heats.ts'
import { measureAtCommonRate } from './openloop/common-rate.ts'
import { type Method, Session } from './openloop/session.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'
import { runProbes } from './probes.ts'
import { runPublished } from './published.ts'

interface Running {
  /** Figures of cells that failed a gate are in the result all the same. */
  keepVoided?: boolean
  /** Of open loops: what is done on each launch instead of passes. */
  method?: Method
}

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. It is filled in place. Heats are in random order,
 * but every n-th heat of all races before the next, so that a slow minute does not hit one race alone.
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runExperiment<Kind extends StoredResult>(
  experiment: Experiment,
  result: Kind,
  { keepVoided = false, method, ...context }: RunContext<Kind> & Running,
): Promise<void> {
  // Of several studies all were planned when the first one began.
  if (result.heats.length === 0) result.startedAt = new Date().toISOString()
  const preparation = {
    ...context,
    openEnvironment: (options: EnvironmentOptions) => openEnvironment(experiment, result, options),
    figures: (so: Kind) => figuresOf(so, { experiment, keepVoided }),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    const { cores } = result.settings
    const isPaced = isRace(result) && result.mode === 'native' && cores !== null
    const spinner = isPaced ? await Spinner.start(cores.server) : undefined
    try {
      const slowness = spinner === undefined ? 1 : await slownessOf(spinner)
      await runHeats(
        prepared,
        planOf(experiment, prepared, { keepVoided, spinner, slowness, ...(method && { method }) }),
      )
    } finally {
      await spinner?.stop()
    }
    await runPublishedTools(experiment, result, prepared)
  })
}

async function runPublishedTools(
  experiment: Experiment,
  result: StoredResult,
  { environment, signal, progress }: Pick<PreparedRun, 'environment' | 'signal' | 'progress'>,
): Promise<void> {
  if (result.kind !== 'study' || result.published === null || signal.aborted) return
  if (environment instanceof StudyEnvironment)
    result.published = await runPublished(experiment, result, { environment, signal, progress })
}

/** Where the servers are, by the mode of the result. */
async function openEnvironment(
  experiment: Experiment,
  result: StoredResult,
  options: EnvironmentOptions,
): Promise<Environment> {
  const { mode, target, cluster, cells, settings } = result
  if (mode === 'docker') return openDocker(cells, options)
  if (cluster !== null) {
    // The client of Kubernetes takes a second to load.
    const [{ openKubernetes }, { openStudyInCluster }] = await Promise.all([
      import('../environments/kubernetes/environment.ts'),
      import('../environments/kubernetes/study.ts'),
    ])
    return result.kind === 'study'
      ? openStudyInCluster(experiment, cells, cluster, options)
      : openKubernetes(cells, cluster, options)
  }
  if (target !== null) return new TargetEnvironment(target, settings, options)
  return result.kind === 'study'
    ? new StudyEnvironment(experiment, cells, options)
    : new NativeEnvironment(options)
}

interface Prepared {
  result: StoredResult
  environment: Pick<Environment, 'startServers'>
  drivers: Pick<Drivers, 'usual' | 'get'>
}

interface PlanOptions extends Running {
  spinner?: Spinner | undefined
  /** As of `expectedHeatMs`. */
  slowness?: number
}

/** What the heats of an experiment are. */
export function planOf(
  experiment: Experiment,
  { result, environment, drivers }: Prepared,
  { keepVoided = false, spinner, slowness = 1, method }: PlanOptions = {},
): HeatPlan {
  const { mode, settings } = result
  const { precision, pauseMs } = settings
  const isStudy = result.kind === 'study'
  const planned = method?.launches ?? settings.heats
  const measure = (course: Course) =>
    method === undefined
      ? measureRace(course, experiment, result, drivers)
      : measureLaunch(course, method, drivers)
  return {
    title: experiment.name,
    races: Object.keys(experiment.races),
    planned,
    most: precision === null ? planned : MOST_HEATS,
    expectedMs: ({ race, heat }, cells, slices) => {
      const [first] = cells
      if (method !== undefined) return first === undefined ? 0 : method.expectedMs(first, heat)
      return (
        pauseMs + expectedRaceMs(raceOf(experiment, race), cells, { ...settings, slices }, { mode, slowness })
      )
    },
    longestMs: isRace(result) ? LONGEST_HEAT_MS : Number.POSITIVE_INFINITY,
    run: (frame, cells) => {
      const race = raceOf(experiment, frame.planned.race)
      if (isProbe(race)) return runProbes(frame, cells, { race, quick: settings.profile === 'quick' })
      return runHeat({
        ...{ ...frame, cells, settings, slowness, environment, spinner, measure },
        driverOf: ({ generator }) => drivers.get(generator),
        workloadOf: ({ system }) =>
          race.workloads?.[system] ?? experiment.systems[system]?.workload ?? race.workload,
        details: isStudy,
      })
    },
    isEnough: ({ heat }) => isRace(result) && isEnough(result, heat),
    // A target may keep only most of the contract. The user who asks for voided figures gets them.
    keepsWrong: mode === 'target' && keepVoided,
    nameOf: ({ id, title }) => (isStudy ? title : id),
  }
}

function raceOf({ name, races }: Experiment, race: string): Race {
  const found = races[race]
  if (found === undefined) throw new Error(`The experiment ${name} has no race ${race}.`)
  return found
}

/** Passes, and then the latencies that claims are about: by then what a system can do is known, and it is as warm as it gets. */
async function measureRace(
  course: Course,
  experiment: Experiment,
  { heats, settings }: Run,
  { usual: driver }: Pick<Drivers, 'usual'>,
): Promise<void> {
  await measurePasses(course)
  const race = raceOf(experiment, course.planned.race)
  const pinned = isProbe(race) ? undefined : race.openRate
  const known = pinned ?? openRateOf(heats, course.planned.race)
  await measureAtCommonRate(course, { experiment, settings, known, driver })
}

async function measureLaunch(
  course: Course,
  method: Method,
  { usual }: Pick<Drivers, 'usual'>,
): Promise<void> {
  for (const entrant of course.entrants)
    await attempt(course, entrant.cell, () =>
      method.measure(new Session(course, entrant, usual), course.planned.heat),
    )
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

/** `--precision`: it ends once all intervals are narrow. Looking before the sixth heat would favour lucky runs. */
function isEnough({ settings, analysis }: RaceResult, heat: number): boolean {
  const { precision, heats } = settings
  if (precision === null || heat <= heats || analysis === null) return false
  return analysis.races.length > 0 && isWithin(analysis, precision)
}

/** A process that runs longer is another launch than one that was just started. */
const LONGEST_HEAT_MS = 60_000

const MOST_HEATS = 100
