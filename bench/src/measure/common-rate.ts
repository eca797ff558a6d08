import { shuffle } from '@startgrid/stats/random.ts'
import type { StartgridDriver } from '../drivers/startgrid.ts'
import { commonRate, MOST_PART } from '../experiment/latency-levels.ts'
import { durationFor, shareOf } from '../experiment/open-loop-effort.ts'
import { isQuiet } from '../judge/analysis/slices.ts'
import { closedLoopOf, type Experiment, isProbe } from '../model/experiment.ts'
import type { Span } from '../model/result.ts'
import type { StudyCell, StudyOpenLoop, StudySettings } from '../model/study-result.ts'
import { attempt, type Course } from './heat.ts'
import type { Entrant } from './slice.ts'
import { measureTrial } from './trial.ts'

/**
 * Latencies of a race: people who replace a framework keep their traffic, so all systems get the same one, and requests are due
 * whatever became of those before. In a closed loop a faster server only gets more of them.
 */

/** Systems whose capacity decides the rate of a race. */
export function baseOf(
  { claims, races }: Pick<Experiment, 'claims' | 'races'>,
  name: string,
): readonly string[] {
  const race = races[name]
  if (race === undefined || isProbe(race)) return []
  const named = claims
    .filter((claim) => claim.race === name && closedLoopOf(claim.metric) !== undefined)
    .flatMap(({ over, under }) => [over, under])
  return named.length > 0 ? [...new Set(named)] : (race.openLoop ?? [])
}

/** What a system can do, by its slices in the same heat. */
interface Capacity {
  /** Responses per second in closed loop. */
  rate: number
  /** Nobody disturbed these slices. */
  isQuiet: boolean
}

export interface OpenLoopOptions {
  study: Pick<Experiment, 'claims' | 'races'>
  settings: Pick<StudySettings, 'heats' | 'openLoop'>
  /** Requests per second, if an earlier heat has found them. */
  known: number | undefined
  driver: StartgridDriver
  /** What offers one load and stores it. */
  measure?: typeof measureTrial
}

/**
 * Offers one rate to all cells of a heat whose latency is asked for, shuffled.
 * @returns null where there are none, and after an abort
 */
export async function runOpenLoop(
  course: Course<StudyCell>,
  { study, settings, known, driver, measure = measureTrial }: OpenLoopOptions,
): Promise<StudyOpenLoop | null> {
  const { entrants, failed, planned, random, signal } = course
  const asked = entrants.filter(({ cell }) => cell.openLoop && !failed.has(cell.id))
  const capacities = new Map(asked.map(({ cell }) => [cell.app, capacityOf(course, cell)]))
  const base = baseOf(study, planned.race).flatMap((system) => capacities.get(system)?.rate ?? [])
  const rate = known ?? commonRate(base)
  if (signal.aborted || asked.length === 0 || rate === null) return null
  // What a system can do while others take its core says nothing.
  const isSlow = ({ cell }: Entrant) => {
    const capacity = capacities.get(cell.app)
    return capacity?.isQuiet === true && rate > capacity.rate * MOST_PART
  }
  const tooSlow = asked.filter(isSlow).map(({ cell }) => cell.id)
  const record: StudyOpenLoop = { rate, tooSlow, loads: [] }
  const durationMs = openLoopMs(rate, settings)
  const spec = { purpose: 'level', level: 'common', rate, durationMs, histograms: true } as const
  const wanted = asked.filter((one) => !isSlow(one))
  for (const entrant of shuffle(wanted, random)) {
    const options = { launch: planned.heat, seed: Math.floor(random() * 2 ** 32) }
    const found = await attempt(course, entrant.cell, () =>
      measure(course, { ...entrant, driver }, spec, options),
    )
    if (found !== undefined) record.loads.push({ ...found.trial, meanMs: found.meanMs })
  }
  return record
}

/** In its slices; in those that nobody disturbed, if there are any. */
function capacityOf({ record }: Course<StudyCell>, { id }: StudyCell): Capacity {
  const measured = record.slices.filter(({ cell, phase }) => cell === id && phase === 'measure')
  const quiet = measured.filter(isQuiet)
  const used = quiet.length > 0 ? quiet : measured
  const seconds = used.reduce((sum, slice) => sum + slice.seconds, 0)
  const requests = used.reduce((sum, slice) => sum + slice.requests, 0)
  return { rate: seconds === 0 ? 0 : requests / seconds, isQuiet: quiet.length > 0 }
}

/** As long as p99 needs, within what the profile allows: milliseconds. */
function openLoopMs(rate: number, { heats, openLoop }: { heats: number; openLoop: Span }): number {
  return durationFor(99, rate, shareOf(heats), openLoop)
}
