import { shuffle } from '@startgrid/stats/random.ts'
import { commonRate, durationFor, latencyHeats, MOST_PART, shareOf } from '../experiment/open-loop.ts'
import { isQuiet } from '../judge/disturbance.ts'
import { isSpoiled } from '../judge/latencies.ts'
import { type Experiment, isProbe } from '../result/experiment.ts'
import { isLatency } from '../result/metrics.ts'
import type { Cell } from '../result/result.ts'
import { attempt, type Course } from './heat.ts'
import { CellFailure, type Entrant, measureTrial } from './load.ts'

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
    .filter((claim) => claim.race === name && isLatency(claim.metric))
    .flatMap(({ over, under }) => [over, under])
  return named.length > 0 ? [...new Set(named)] : (race.openLoop ?? [])
}

/**
 * Offers one rate to all cells of a heat whose latency is asked for, shuffled.
 * @param known requests per second, if an earlier heat has found them
 */
export async function measureAtCommonRate(
  course: Course,
  experiment: Pick<Experiment, 'claims' | 'races'>,
  known: number | undefined,
): Promise<void> {
  const { entrants, failed, planned, random, record, settings, signal } = course
  const asked = entrants.filter(({ cell }) => cell.openLoop && !failed.has(cell.id))
  const capacities = new Map(asked.map(({ cell }) => [cell.system, capacityOf(course, cell)]))
  const base = baseOf(experiment, planned.race).flatMap((system) => capacities.get(system)?.rate ?? [])
  const rate = known ?? commonRate(base)
  if (signal.aborted || asked.length === 0 || rate === null || settings.openLoop === null) return
  const heats = latencyHeats(settings)
  if (planned.heat > heats) return
  // What a system can do while others take its core says nothing.
  const isSlow = ({ cell }: Entrant) => {
    const capacity = capacities.get(cell.system)
    return capacity?.isQuiet === true && rate > capacity.rate * MOST_PART
  }
  record.commonRate = { rate, tooSlow: asked.filter(isSlow).map(({ cell }) => cell.id) }
  const durationMs = durationFor(99, rate, shareOf(heats), settings.openLoop)
  const wanted = asked.filter((one) => !isSlow(one))
  for (const entrant of shuffle(wanted, random))
    await attempt(course, entrant.cell, async () => {
      if ((course.rates.get(entrant.cell.id) ?? 0) === 0) throw new CellFailure('no request got a response')
      for (let tries = 1; tries <= TRIES; tries++) {
        const load = { rate, durationMs, seed: Math.floor(random() * 2 ** 32) }
        const trial = await measureTrial(course, entrant, load)
        record.trials.push(trial)
        const { histogram, lagHistogram } = trial
        if (histogram === null || !isSpoiled(histogram, lagHistogram, MEDIAN)) return
      }
    })
}

/** A load is offered again if the generator was so late that not even its median counts: a machine that stalls does so in bursts. */
const TRIES = 2
const MEDIAN = 50

/** Responses per second in the slices of this heat; in those that nobody disturbed, if there are any. */
function capacityOf({ record }: Course, { id }: Cell): { rate: number; isQuiet: boolean } {
  const measured = record.slices.filter(({ cell, phase }) => cell === id && phase === 'measure')
  const quiet = measured.filter(isQuiet)
  const used = quiet.length > 0 ? quiet : measured
  const sum = (of: 'seconds' | 'requests') => used.reduce((total, slice) => total + slice[of], 0)
  return { rate: used.length === 0 ? 0 : sum('requests') / sum('seconds'), isQuiet: quiet.length > 0 }
}
