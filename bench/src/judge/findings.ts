import { toInterval } from '@startgrid/stats/estimate.ts'
import { mean, median } from '@startgrid/stats/moments.ts'
import type { Finding, PilotRecord } from '../result/figures.ts'
import type { Heat } from '../result/heat.ts'
import { ALL_METRICS, METRICS } from '../result/metrics.ts'
import type { Cell } from '../result/result.ts'
import type { Comparisons } from './comparisons.ts'
import { CPU_DECIDES_ABOVE } from './disturbance.ts'
import type { Measured } from './launches.ts'
import { keptSlices } from './passes.ts'
import { levelOf, startsNeeded, verdictOf, WITHIN } from './verdict.ts'

/** Fewer pairs are not tested: of 8 races of equal servers with 2 or 3 starts on a busy machine, 3 showed a difference. */
export const LEAST_STARTS = 5

/** From this part of its cores on, a server is limited by them. */
export const FULL_CORES = 0.9

/**
 * Each system against those before it, by the one figure per path that decides. All pairs share the level (Bonferroni), so that their intervals hold
 * together. The twin is compared with the system that it equals, and not tested.
 * @param twin is the last one, and equals the first; null if there is none
 */
export function findingsOf(
  measured: Measured,
  twin: string | null,
  compareOf: Comparisons['compare'],
): Finding[] {
  const { heats, settings } = measured
  const pairs = measured.pilots.flatMap(({ race, decides: byPilot, systems }) => {
    const taken = takenIn(race, measured)
    return systems.flatMap(({ system: under }, index) =>
      systems
        .slice(index + 1)
        .filter(({ system }) => index === 0 || system !== twin)
        .map(({ system: over }) => {
          // Of a server on another machine it is not known.
          const hasCpu = compareOf(race, 'cpu', over, under) !== null
          const decides = hasCpu && taken !== null && taken > CPU_DECIDES_ABOVE ? 'cpu' : byPilot
          const comparison = compareOf(race, decides, over, under)
          const { estimate = null, starts = 0 } = comparison ?? {}
          const isTwin = over === twin
          const tested = isTwin || starts < LEAST_STARTS ? null : estimate
          return { race, decides, taken, over, under, isTwin, starts, comparison, tested } as const
        }),
    )
  })
  // A false alarm would send a search through a history in which nothing happened, so its level is half of it.
  const shares = measured.search === undefined ? 1 : 2
  const count = shares * pairs.filter(({ tested }) => tested !== null).length
  const within = settings.within ?? WITHIN
  return pairs.map(({ comparison, tested, ...pair }) => {
    const { race, decides, over, under } = pair
    const level = levelOf(settings, heats.filter((heat) => heat.race === race).length, count)
    const ratio = tested === null ? (comparison?.ratio ?? null) : toInterval(tested, level)
    const verdict = ratio === null || tested === null ? null : verdictOf(ratio, within)
    const stall = stallOf(pair, measured)
    return {
      ...pair,
      ratio,
      verdict,
      whole: wholeOf(pair, measured),
      needed:
        tested === null || verdict !== 'open'
          ? null
          : startsNeeded(tested, { starts: pair.starts, within, level }),
      others: ALL_METRICS.flatMap((metric) => {
        if (metric === decides || !METRICS[metric].compared) return []
        const other = compareOf(race, metric, over, under)?.ratio ?? null
        return other === null ? [] : [{ metric, ratio: other }]
      }),
      ...(stall !== undefined && { stall }),
    }
  })
}

/** The part of the servers' core that others used, 0 to 1; null if it is not known. */
function takenIn(race: string, { heats }: Measured): number | null {
  const parts = heats
    .filter((heat) => heat.race === race)
    .flatMap(({ slices }) => slices.filter(({ phase }) => phase === 'measure'))
    .flatMap(({ disturbance: { serverForeign } }) => serverForeign ?? [])
  return parts.length === 0 ? null : mean(parts)
}

/** The same of two systems without passes and without robustness: 6 % of slices that cost 40 % more are 2.4 % of all, and 0.9 % of what decides. */
function wholeOf(
  { race, decides, over, under }: Pick<Finding, 'race' | 'decides' | 'over' | 'under'>,
  { cells, heats }: Measured,
): number | null {
  const kept = heats.flatMap((heat) => (heat.race === race ? keptSlices(heat).slices : []))
  const costOf = (system: string) => {
    const id = cells.find((one) => one.race === race && one.system === system)?.id
    const own = kept.filter(({ cell }) => cell === id)
    const spent = own.map(({ seconds, cpuSeconds }) => (decides === 'rate' ? seconds : (cpuSeconds.app ?? 0)))
    return mean(spent) / mean(own.map(({ requests }) => requests))
  }
  const ratio = decides === 'rate' ? costOf(under) / costOf(over) : costOf(over) / costOf(under)
  return ratio > 0 && Number.isFinite(ratio) ? ratio : null
}

/** Those of a pair whose cost still fell when the pilot ended: they may have been cold while they were measured. */
export function unsteadyOf(
  { race, over, under }: Pick<Finding, 'race' | 'over' | 'under'>,
  pilots: readonly PilotRecord[],
): string[] {
  return pilots
    .filter((pilot) => pilot.race === race)
    .flatMap(({ systems }) => systems)
    .flatMap(({ system, steady }) => (steady || (system !== over && system !== under) ? [] : system))
}

/** So many times as long as with the other system: no noise that hits both. On a busy machine others stop a server for 60 ms as well. */
const STALL = 40
const LONG = { seconds: 1, times: 10 }
/** And as a request usually waits: no queue. */
const OWN = 10

/** What robust figures leave out: a server that stops responding for a while in most of its starts. */
export function stallOf(
  { race, over, under }: Pick<Finding, 'race' | 'over' | 'under'>,
  { cells, heats }: { cells: readonly Cell[]; heats: readonly Heat[] },
): Finding['stall'] {
  const [one, other] = [over, under].map((system) => {
    const cell = cells.find((each) => each.race === race && each.system === system)
    const waits = cell && waitsOf(cell, heats)
    return waits && { system, ...waits }
  })
  if (!one || !other) return undefined
  const [long, short] = one.longest > other.longest ? [one, other] : [other, one]
  const times = long.longest >= LONG.seconds ? LONG.times : STALL
  const isStall = long.longest >= times * short.longest && long.longest >= OWN * long.usual
  return isStall ? { system: long.system, seconds: long.longest, other: short.longest } : undefined
}

/** Seconds, in the typical start, under any load. Its first slice is left out: nothing is loaded or compiled yet. */
function waitsOf({ id, connections }: Cell, heats: readonly Heat[]) {
  const starts = heats.flatMap(({ slices, trials }) => {
    const own = slices.filter(({ cell }) => cell === id).slice(1)
    const all = [...own, ...trials.filter(({ cell }) => cell === id)]
    const waits = all.flatMap(({ longest }) => longest ?? [])
    if (waits.length === 0) return []
    const usual = own.map(({ seconds, requests }) => (connections * seconds) / Math.max(1, requests))
    return { longest: Math.max(...waits), usual: median(usual) }
  })
  if (starts.length === 0) return null
  return { longest: median(starts.map((one) => one.longest)), usual: median(starts.map((one) => one.usual)) }
}
