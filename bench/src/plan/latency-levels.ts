/** At which rates latencies are measured. */

/** Levels as parts of the cell's own capacity. */
export const OWN_LEVELS: ReadonlyMap<string, number> = new Map([
  ['25 %', 0.25],
  ['50 %', 0.5],
  ['75 %', 0.75],
])

export const COMMON = 'common'

/** The common rate, as a part of what the slowest cell can do. */
export const COMMON_PART = 0.5

/** Nearer to its capacity than this, a cell is not asked for the common rate: a queue would grow at the slightest dip. */
export const MOST_PART = 0.9

/** @returns the lowest rate, in whole tens; null without one */
export function lowestOf(rates: readonly number[]): number | null {
  return rates.length > 0 ? Math.max(10, Math.round(Math.min(...rates) / 10) * 10) : null
}
