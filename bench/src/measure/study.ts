import type { EnvironmentOptions } from '../environments/environment.ts'
import { StudyEnvironment } from '../environments/study/environment.ts'
import { expectedRaceMs } from '../experiment/study.ts'
import { analyseStudy } from '../judge/study/analysis.ts'
import { openRateOf } from '../judge/study/open-figures.ts'
import { type Experiment, isProbe, type LoadRace, type Race } from '../model/experiment.ts'
import type { StudyCell, StudyHeat, StudyOpenLoop, StudyResult } from '../model/study-result.ts'
import { runOpenLoop } from './common-rate.ts'
import { measurePasses, runHeat } from './heat.ts'
import { type HeatFrame, type HeatPlan, runHeats } from './heats.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'
import { runProbes } from './probes.ts'
import { runPublished } from './published.ts'

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. It is filled in place.
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runStudy(
  study: Experiment,
  result: StudyResult,
  context: RunContext<StudyResult>,
): Promise<void> {
  // Of several studies all were planned when the first one began.
  if (result.heats.length === 0) result.startedAt = new Date().toISOString()
  let opened: StudyEnvironment | undefined
  const preparation = {
    ...context,
    openEnvironment: async (options: EnvironmentOptions) => {
      const { cluster, cells } = result
      if (cluster !== undefined) {
        // The client of Kubernetes takes a second to load.
        const { openStudyInCluster } = await import('../environments/kubernetes/study.ts')
        return openStudyInCluster(study, cells, cluster, options)
      }
      opened = new StudyEnvironment(study, result.cells, options)
      return opened
    },
    figures: (so: StudyResult) => ({ analysis: analyseStudy(study, so) }),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    await runHeats(prepared, planOfStudy(study, prepared))
    const { signal, progress } = context
    if (result.published !== null && opened !== undefined && !signal.aborted)
      result.published = await runPublished(study, result, { environment: opened, signal, progress })
  })
}

type Prepared = Pick<PreparedRun<StudyResult>, 'result' | 'drivers'> & {
  environment: Pick<PreparedRun['environment'], 'startServers'>
}

/** What the heats of a study are. */
export function planOfStudy(study: Experiment, prepared: Prepared): HeatPlan<StudyCell> {
  const { result } = prepared
  const raceOf = (name: string): Race => {
    const race = study.races[name]
    if (race === undefined) throw new Error(`The study ${study.name} has no race ${name}.`)
    return race
  }
  return {
    title: study.name,
    races: Object.keys(study.races),
    planned: result.settings.heats,
    most: result.settings.heats,
    expectedMs: ({ race }, cells, slices) =>
      expectedRaceMs(raceOf(race), cells, { ...result.settings, slices }),
    // The warm-up of twenty systems alone takes most of a minute.
    longestMs: Number.POSITIVE_INFINITY,
    run: (frame, cells) => {
      const race = raceOf(frame.planned.race)
      if (isProbe(race)) return runProbes(frame, cells, { race, quick: result.profile === 'quick' })
      return runLoads(frame, cells, { study, race, prepared })
    },
    isEnough: () => false,
    nameOf: ({ title }) => title,
  }
}

/** Passes, and then the latencies that claims are about: by then what a system can do is known, and it is as warm as it gets. */
async function runLoads(
  frame: HeatFrame,
  cells: readonly StudyCell[],
  { study, race, prepared }: { study: Experiment; race: LoadRace; prepared: Prepared },
): Promise<StudyHeat> {
  const { result, environment, drivers } = prepared
  const { settings } = result
  let openLoop: StudyOpenLoop | null = null
  const heat = await runHeat<StudyCell>({
    ...frame,
    cells,
    settings,
    environment,
    driverOf: ({ generator }) => drivers.get(generator),
    workloadOf: ({ app }) => race.workloads?.[app] ?? study.systems[app]?.workload ?? race.workload,
    details: true,
    measure: async (course) => {
      await measurePasses(course)
      const known = openRateOf(result.heats, frame.planned.race)
      openLoop = await runOpenLoop(course, { study, settings, known, driver: drivers.usual })
    },
  })
  return { ...heat, openLoop, probes: [] }
}
