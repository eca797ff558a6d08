import { oneLine } from '@startgrid/cli/text.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Environment } from '../environments/environment.ts'
import { expectedRaceMs } from '../experiment/study.ts'
import { openRateOf } from '../judge/latencies.ts'
import type { LastingGenerator } from '../load/generator.ts'
import type { Cell } from '../model/cell.ts'
import { type Experiment, isProbe, isRanked, type ProbeRace, type Race } from '../model/experiment.ts'
import type { Heat } from '../model/heat.ts'
import type { Result } from '../model/result.ts'
import { measureAtCommonRate } from './common-rate.ts'
import { type Course, measurePasses, newHeat, runHeat } from './heat.ts'
import type { HeatFrame, HeatPlan } from './heats.ts'

interface Prepared {
  result: Result
  environment: Pick<Environment, 'start'>
  generator: LastingGenerator
}

/**
 * What the heats of an experiment are.
 * @param openRates requests per second that open loops will probably have, by race
 */
export function planOf(
  experiment: Experiment,
  { result, environment, generator }: Prepared,
  openRates: ReadonlyMap<string, number> = new Map(),
): HeatPlan {
  const { settings } = result
  const planned = settings.heats
  const measure = (course: Course) => measureRace(course, experiment, result)
  return {
    title: experiment.name,
    races: Object.keys(experiment.races),
    planned,
    most: planned,
    expectedMs: (race, cells) => {
      const found = raceOf(experiment, race)
      const openRate = openRateIn(result, found, race) ?? openRates.get(race)
      return expectedRaceMs(found, cells, settings, openRate)
    },
    run: (frame, cells) => {
      const race = raceOf(experiment, frame.planned.race)
      if (isProbe(race))
        return runProbes(frame, cells, { race, environment, quick: settings.profile === 'quick' })
      return runHeat({
        ...{ ...frame, cells, settings, environment, measure },
        generator,
        workloadOf: ({ system }) =>
          race.workloads?.[system] ?? experiment.systems[system]?.workload ?? race.workload,
        details: !isRanked(race),
      })
    },
    isEnough: () => false,
    nameOf: ({ id, race, title }) => (isRanked(experiment.races[race]) ? id : title),
  }
}

function raceOf({ name, races }: Experiment, race: string): Race {
  const found = races[race]
  if (found === undefined) throw new Error(`The experiment ${name} has no race ${race}.`)
  return found
}

/** Requests per second of its open loops, if that is pinned or was found in an earlier heat. */
function openRateIn({ heats }: Pick<Result, 'heats'>, race: Race, name: string): number | undefined {
  return (isProbe(race) ? undefined : race.openRate) ?? openRateOf(heats, name)
}

/** Passes, and then the latencies that claims are about: by then what a system can do is known, and it is as warm as it gets. */
async function measureRace(
  course: Course,
  experiment: Experiment,
  { heats, settings }: Result,
): Promise<void> {
  await measurePasses(course)
  const name = course.planned.race
  const known = openRateIn({ heats }, raceOf(experiment, name), name)
  await measureAtCommonRate(course, { experiment, settings, known })
}

/** A heat without load: a program of the study measures one system after the other, shuffled. Each has the machine to itself. */
async function runProbes(
  { planned, signal, onProgress }: HeatFrame,
  cells: readonly Cell[],
  { race, environment, quick }: { race: ProbeRace; quick: boolean } & Pick<Prepared, 'environment'>,
): Promise<Heat> {
  const beganAt = performance.now()
  const record = newHeat(planned)
  for (const [index, cell] of shuffle(cells, createRandom(planned.seed)).entries()) {
    const { id, system } = cell
    if (signal.aborted) break
    onProgress(index / cells.length)
    let foreign: number | null = null
    const onForeign = (part: number) => {
      foreign = part
    }
    try {
      const { heat } = planned
      const figures = await race.probe(system, {
        signal,
        heat,
        quick,
        onForeign,
        start: () => startAlone(environment, cell, signal),
      })
      record.probes.push({ cell: id, figures, foreign })
    } catch (error) {
      if (!signal.aborted) record.failures.push({ cell: id, reason: oneLine(error) })
    }
  }
  record.seconds = (performance.now() - beganAt) / 1000
  return record
}

async function startAlone(environment: Pick<Environment, 'start'>, cell: Cell, signal: AbortSignal) {
  const { running, failures, stop } = await environment.start([cell], { pinned: false, signal })
  const server = running.get(cell.id)
  if (server !== undefined) return { target: server.target, stop }
  await stop()
  throw new Error(`${cell.title}: ${failures.get(cell.id)}`)
}
