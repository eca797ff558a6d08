import { type Random, shuffle } from '@startgrid/stats/random.ts'
import { isTimely } from '../../judge/study/open-figures.ts'
import type { Span } from '../../model/result.ts'
import { closedLoopOf, isProbe, type Study } from '../../model/study.ts'
import type { StudyOpenLoad, StudyOpenLoop, StudySettings } from '../../model/study-result.ts'
import { COMMON_PART, lowestOf, MOST_PART } from '../../plan/latency-levels.ts'
import { durationFor, shareOf } from '../../plan/open-loop-effort.ts'
import { type Entrant, measureOpenLoad, type Track } from './measurement.ts'

/**
 * Latencies of a race: people who replace a framework keep their traffic, so all systems get the same one, and requests are due
 * whatever became of those before. In a closed loop a faster server only gets more of them.
 */

/** Systems whose capacity decides the rate of a race. */
export function baseOf({ claims, races }: Pick<Study, 'claims' | 'races'>, name: string): readonly string[] {
  const race = races[name]
  if (race === undefined || isProbe(race)) return []
  const named = claims
    .filter((claim) => claim.race === name && closedLoopOf(claim.metric) !== undefined)
    .flatMap(({ over, under }) => [over, under])
  return named.length > 0 ? [...new Set(named)] : (race.openLoop ?? [])
}

/** What a system can do, by its slices in the same heat. */
export interface Capacity {
  /** Answers per second in closed loop. */
  rate: number
  /** Nobody disturbed these slices. */
  isQuiet: boolean
}

/**
 * Half of what the slowest of them can do.
 * @returns requests per second, in whole tens; null if none of them was measured
 */
export function commonRate(
  base: readonly string[],
  capacities: ReadonlyMap<string, Capacity>,
): number | null {
  const halves = base
    .flatMap((system) => capacities.get(system) ?? [])
    .map(({ rate }) => rate * COMMON_PART)
    .filter((rate) => rate > 0)
  return lowestOf(halves)
}

export interface OpenLoopPlan {
  /** From 1: which launch. */
  heat: number
  /** Requests per second. */
  rate: number
  /** By system. */
  capacities: ReadonlyMap<string, Capacity>
  settings: Pick<StudySettings, 'heats' | 'openLoop'>
  random: Random
  /** What a load that failed means for its system. @returns undefined after an abort or a failure */
  attempt(
    entrant: Entrant,
    durationMs: number,
    load: () => Promise<StudyOpenLoad | undefined>,
  ): Promise<StudyOpenLoad | undefined>
}

/** Offers the rate to all systems, shuffled; where others disturbed, or the generator was late, once more at the end. */
export async function runOpenLoop(
  track: Track,
  entrants: readonly Entrant[],
  { heat, rate, capacities, settings, random, attempt }: OpenLoopPlan,
): Promise<StudyOpenLoop> {
  // What a system can do while others take its core says nothing.
  const isSlow = ({ cell }: Entrant) => {
    const capacity = capacities.get(cell.system)
    return capacity?.isQuiet === true && rate > capacity.rate * MOST_PART
  }
  const record: StudyOpenLoop = {
    rate,
    tooSlow: entrants.filter(isSlow).map(({ cell }) => cell.system),
    loads: [],
  }
  const durationMs = openLoopMs(rate, settings)
  const take = async (entrant: Entrant) => {
    const seed = Math.floor(random() * 2 ** 32)
    const load = await attempt(entrant, durationMs, () =>
      measureOpenLoad(track, entrant, { heat, rate, durationMs, seed }),
    )
    if (load !== undefined) record.loads.push(load)
    return load
  }
  const again: Entrant[] = []
  const asked = entrants.filter((entrant) => !isSlow(entrant))
  for (const entrant of shuffle(asked, random)) {
    const load = await take(entrant)
    if (load !== undefined && !isTimely(load)) again.push(entrant)
  }
  for (const entrant of again) await take(entrant)
  return record
}

/** As long as p99 needs, within what the profile allows: milliseconds. */
function openLoopMs(rate: number, { heats, openLoop }: { heats: number; openLoop: Span }): number {
  return durationFor(99, rate, shareOf(heats), openLoop)
}
