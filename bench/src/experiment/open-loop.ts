import type { Cell, Settings, Span } from '../result/result.ts'

/** How long an open loop lasts, and at which rate. Times are in milliseconds. */

/** Samples beyond a percentile, over all launches, below which it is not printed. */
export const BEYOND = 100

/** Launches below which each contributes no more than a share of so many. */
const LEAST_LAUNCHES = 3

/** Starts of a race that has as many as fit, those that each race has: later ones are for what decides. */
const MOST_LAUNCHES = 5

/** Heats in which latencies are measured. */
export function latencyHeats({ heats, looks }: Pick<Settings, 'heats' | 'looks'>): number {
  return looks === undefined ? heats : Math.min(heats, MOST_LAUNCHES)
}

/**
 * How long a load must last so that a percentile may be printed; a tenth more, because arrivals are random.
 * @param rate requests per second, above 0
 * @param share of the samples that this load contributes: 1 / launches if they are pooled
 */
export function durationFor(percentile: number, rate: number, share: number, { minMs, maxMs }: Span): number {
  const samples = (1.1 * BEYOND * share) / (1 - percentile / 100)
  return Math.round(Math.min(maxMs, Math.max(minMs, (samples / rate) * 1000)))
}

/**
 * What the open loops of one heat take.
 * @param rate requests per second; unknown before anything is measured
 */
export function openLoopsMs(
  cells: readonly Pick<Cell, 'openLoop'>[],
  { openLoop, ...settings }: Pick<Settings, 'openLoop' | 'heats' | 'looks'>,
  rate?: number,
): number {
  if (openLoop === null) return 0
  const each =
    rate === undefined ? openLoop.maxMs : durationFor(99, rate, shareOf(latencyHeats(settings)), openLoop)
  return cells.filter((cell) => cell.openLoop).length * each
}

/** The part of the samples behind a percentile that one launch contributes. */
export function shareOf(launches: number): number {
  return 1 / Math.max(launches, LEAST_LAUNCHES)
}

/** The common rate, as a part of what the slowest cell can do. */
const COMMON_PART = 0.5

/** Nearer to its capacity than this, a cell is not asked for the common rate: a queue would grow at the slightest dip. */
export const MOST_PART = 0.9

/**
 * One rate for everybody who is compared: half of what the slowest can do.
 * @param capacities responses per second in closed loop
 * @returns requests per second, in whole tens; null if there is no capacity
 */
export function commonRate(capacities: readonly number[]): number | null {
  const rates = capacities.map((capacity) => capacity * COMMON_PART).filter((rate) => rate > 0)
  return rates.length > 0 ? Math.max(10, Math.round(Math.min(...rates) / 10) * 10) : null
}
