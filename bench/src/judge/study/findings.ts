import { holm } from '@startgrid/stats/multiplicity.ts'
import { smallestDifference } from '@startgrid/stats/power.ts'
import type { Metric } from '../../model/experiment.ts'
import type { Finding, PilotRecord } from '../../model/figures.ts'
import type { compare } from '../analysis/race.ts'

type Comparison = ReturnType<typeof compare> & { starts: number }

/** Of the whole race. */
const LEVEL = 0.05
const POWER = 0.8

/** Fewer pairs are not tested: of 8 races of equal servers with 2 or 3 starts on a busy machine, 3 showed a difference. */
export const LEAST_STARTS = 5

/** Shown beside what decides, and not tested. */
const OTHERS: readonly Metric[] = [
  'rate',
  'cpu',
  'median-latency',
  'p99-latency',
  'startup',
  'ready-memory',
  'peak-memory',
]

/**
 * Each system against those before it, by the one figure per path that decides. Holm's correction is over paths and systems. The twin is compared with
 * the system that it equals, and not tested.
 * @param twin is the last one, and equals the first; null if there is none
 * @param compareOf a system over another; null if one was not measured
 */
export function findingsOf(
  pilots: readonly PilotRecord[],
  twin: string | null,
  compareOf: (race: string, metric: Metric, over: string, under: string) => Comparison | null,
): Finding[] {
  const pairs = pilots.flatMap(({ race, decides, systems }) =>
    systems.flatMap(({ system: under }, index) =>
      systems
        .slice(index + 1)
        .filter(({ system }) => index === 0 || system !== twin)
        .map(({ system: over }) => ({ race, decides, over, under })),
    ),
  )
  const compared = pairs.map((pair) => {
    const { race, decides, over, under } = pair
    return { ...pair, comparison: compareOf(race, decides, over, under) }
  })
  const tested = compared.filter(
    ({ over, comparison }) =>
      over !== twin && comparison !== null && comparison.p !== null && comparison.starts >= LEAST_STARTS,
  )
  const adjusted = holm(tested.map(({ comparison }) => comparison?.p ?? 1))
  return compared.map((pair) => {
    const { race, decides, over, under, comparison } = pair
    const place = tested.indexOf(pair)
    const { estimate = null } = comparison ?? {}
    return {
      race,
      decides,
      over,
      under,
      ratio: comparison?.ratio ?? null,
      pAdjusted: place < 0 ? null : (adjusted[place] ?? null),
      isTwin: over === twin,
      starts: comparison?.starts ?? 0,
      smallest:
        estimate === null || place < 0
          ? null
          : Math.exp(smallestDifference(estimate.df, LEVEL / tested.length, POWER) * estimate.standardError),
      others: OTHERS.filter((metric) => metric !== decides).flatMap((metric) => {
        const ratio = compareOf(race, metric, over, under)?.ratio ?? null
        return ratio === null ? [] : [{ metric, ratio }]
      }),
    }
  })
}

/** Whether there were enough starts to tell the systems apart. */
export function isTested({ pAdjusted }: Pick<Finding, 'pAdjusted'>): boolean {
  return pAdjusted !== null
}

/** Whether the systems were told apart. */
export function isShown({ pAdjusted }: Pick<Finding, 'pAdjusted'>): boolean {
  return pAdjusted !== null && pAdjusted < LEVEL
}
