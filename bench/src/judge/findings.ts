import { mean } from '@startgrid/stats/moments.ts'
import type { Finding, PilotRecord } from '../result/figures.ts'
import { ALL_METRICS, METRICS } from '../result/metrics.ts'
import { adjust, type Comparisons, smallestRatio } from './comparisons.ts'
import { CPU_DECIDES_ABOVE } from './disturbance.ts'
import type { Measured } from './launches.ts'
import { stallOf } from './stall.ts'

/** Fewer pairs are not tested: of 8 races of equal servers with 2 or 3 starts on a busy machine, 3 showed a difference. */
export const LEAST_STARTS = 5

/** From this part of its cores on, a server is limited by them. */
export const FULL_CORES = 0.9

/**
 * Each system against those before it, by the one figure per path that decides. Holm's correction is over paths and systems. The twin is compared with
 * the system that it equals, and not tested.
 * @param twin is the last one, and equals the first; null if there is none
 */
export function findingsOf(
  measured: Measured,
  twin: string | null,
  compareOf: Comparisons['compare'],
): Finding[] {
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
          return { race, decides, taken, over, under } as const
        }),
    )
  })
  const compared = pairs.map((pair) => {
    const { race, decides, over, under } = pair
    const comparison = compareOf(race, decides, over, under)
    const isEnough = over !== twin && comparison !== null && comparison.starts >= LEAST_STARTS
    return { ...pair, comparison, p: isEnough ? comparison.p : null }
  })
  const adjusted = adjust(compared)
  return compared.map((pair) => {
    const { race, decides, taken, over, under, comparison } = pair
    const { estimate = null } = comparison ?? {}
    const pAdjusted = adjusted.get(pair) ?? null
    const stall = stallOf(pair, measured)
    return {
      ...{ race, decides, taken, over, under },
      ratio: comparison?.ratio ?? null,
      pAdjusted,
      isTwin: over === twin,
      starts: comparison?.starts ?? 0,
      smallest: estimate === null || pAdjusted === null ? null : smallestRatio(estimate, adjusted.size),
      others: ALL_METRICS.flatMap((metric) => {
        if (metric === decides || !METRICS[metric].compared) return []
        const ratio = compareOf(race, metric, over, under)?.ratio ?? null
        return ratio === null ? [] : [{ metric, ratio }]
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

/** Whether there were enough starts to tell the systems apart. */
export function isTested({ pAdjusted }: Pick<Finding, 'pAdjusted'>): boolean {
  return pAdjusted !== null
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
