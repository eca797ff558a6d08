import { formatRate } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { percentiles } from '@startgrid/loadgen'
import { BEYOND, shareOf } from '../../experiment/open-loop-effort.ts'
import type { Cell } from '../../model/cell.ts'
import type { Figures, Metric } from '../../model/experiment.ts'
import type { StudyFigures } from '../../model/figures.ts'
import type { Heat, Trial } from '../../model/heat.ts'
import type { Settings } from '../../model/settings.ts'
import { isTimely, whyFailed, whyNotKept, whyUnsound, whyWrong } from '../trial.ts'

/** The latencies of one system, from the open loops of all heats of its race. */

const PERCENTILES = [
  ['median-latency', 50],
  ['p90-latency', 90],
  ['p97.5-latency', 97.5],
  ['p99-latency', 99],
] as const satisfies readonly (readonly [Metric, number])[]

export interface OpenFigures {
  /** Per heat; null where nothing counts. */
  launches: (Figures | null)[]
  judged: NonNullable<StudyFigures['openLoop']>
}

/** @returns null where the latency of the system is not asked for */
export function openFigures(
  { id, openLoop }: Cell,
  heats: readonly Heat[],
  { heats: planned }: Pick<Settings, 'heats'>,
): OpenFigures | null {
  if (!openLoop) return null
  const own = heats.map(({ trials }) => trials.filter(({ cell }) => cell === id))
  const slow = heats.map(({ commonRate }) => commonRate).find((one) => one?.tooSlow.includes(id))
  const used = usedOf(own)
  const launches = used.filter((load) => load !== undefined).length
  const voidedBecause = slow
    ? `${formatRate(slow.rate)} requests per second are more than 90 % of what it can do`
    : whyVoid(own.flat(), launches, own.length)
  return {
    launches: used.map((load) =>
      load === undefined || voidedBecause !== null ? null : latenciesOf(load, planned),
    ),
    judged: { launches, voidedBecause },
  }
}

/** Per heat. If others leave too few, what they took counts as well, but never a load of a late generator. */
function usedOf(own: readonly (readonly Trial[])[]): (Trial | undefined)[] {
  const sound = own.map((loads) => loads.find((load) => isTimely(load) && whyUnsound(load) === null))
  if (sound.filter((load) => load !== undefined).length >= leastOf(own.length)) return sound
  const isTaken = (load: Trial) => load.disturbed && !load.generatorBound && whyWrong(load) === null
  return sound.map((load, heat) => load ?? own[heat]?.find(isTaken))
}

/** Launches: half of them, and two for an interval. */
function leastOf(heats: number): number {
  return Math.max(Math.min(2, heats), heats / 2)
}

/**
 * One error voids, and so does a server that fell behind while nobody disturbed it: such launches may not be left out, or the slow ones
 * would be. A generator that was late only takes the launch.
 */
function whyVoid(loads: readonly Trial[], launches: number, heats: number): string | null {
  if (loads.length === 0) return 'it was not measured'
  const failure = loads.map(whyFailed).find((reason) => reason !== null)
  if (failure !== undefined) return failure
  const behind = loads
    .filter(isTimely)
    .map(whyNotKept)
    .find((reason) => reason !== null)
  if (behind !== undefined) return behind
  if (launches >= leastOf(heats)) return null
  return `the generator was late, or nothing was compared, in ${heats - launches} of ${plural(heats, 'heat')}`
}

/** Seconds. A percentile with too few samples beyond it is left out. */
function latenciesOf({ histogram, requests, meanMs }: Trial, heats: number): Figures {
  const figures: Figures = meanMs === null ? {} : { 'mean-latency': meanMs / 1000 }
  for (const [metric, percentile] of PERCENTILES) {
    const beyond = requests * (1 - percentile / 100)
    const [ms] = histogram === null ? [] : percentiles(histogram, [percentile])
    if (ms !== undefined && beyond >= BEYOND * shareOf(heats)) figures[metric] = ms / 1000
  }
  return figures
}

/** The rate that the first heat of a race found: the same for all, so that they can be compared. */
export function openRateOf(heats: readonly Heat[], race: string): number | undefined {
  return heats.find((heat) => heat.race === race && heat.commonRate !== null)?.commonRate?.rate
}
