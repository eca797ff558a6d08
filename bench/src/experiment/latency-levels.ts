/** At which rates latencies are measured. */

/** Levels as parts of the cell's own capacity. */
export const OWN_LEVELS: ReadonlyMap<string, number> = new Map([
  ['25 %', 0.25],
  ['50 %', 0.5],
  ['75 %', 0.75],
])

export const COMMON = 'common'

/** The common rate, as a part of what the slowest cell can do. */
const COMMON_PART = 0.5

/** Nearer to its capacity than this, a cell is not asked for the common rate: a queue would grow at the slightest dip. */
export const MOST_PART = 0.9

/**
 * One rate for everybody who is compared: half of what the slowest can do.
 * @param capacities responses per second in closed loop
 * @param least a rate below this is nobody's: it does not count
 * @returns requests per second, in whole tens; null if no capacity counts
 */
export function commonRate(capacities: readonly number[], least = 0): number | null {
  const rates = capacities
    .map((capacity) => capacity * COMMON_PART)
    .filter((rate) => rate > 0 && rate >= least)
  return rates.length > 0 ? Math.max(10, Math.round(Math.min(...rates) / 10) * 10) : null
}
