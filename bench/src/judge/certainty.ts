import { median } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import type { Analysis, Race } from '../model/figures.ts'
import type { Result } from '../model/result.ts'
import { SIGNIFICANT } from './standings.ts'

/** How certain a race is, and what more heats would make of that. */

/** From this spread of the core's speed on, neighbours slow it within seconds. */
export const NOISY = 1.3

/** Fewer spins say little about how the core's speed varies. */
const LEAST_SPINS = 20

/**
 * By what factor the speed of the servers' core varied: the 90th over the 10th percentile of the spins before passes.
 * @returns null where it is not known
 */
export function speedSpread({ heats }: Pick<Result, 'heats'>): number | null {
  const spins = heats
    .flatMap((heat) => heat.spins.map(({ cpuSeconds }) => cpuSeconds))
    .toSorted((a, b) => a - b)
  if (spins.length < LEAST_SPINS) return null
  const at = (part: number) => spins[Math.round(part * (spins.length - 1))] ?? Number.NaN
  return at(0.9) / at(0.1)
}

/** The median half-width of the ratios of rates, as a part of 1; null without intervals. */
export function typicalWidth({ races }: Pick<Analysis, 'races'>): number | null {
  const widths = races.flatMap(({ metric, baseline, ratios }) =>
    metric !== 'rate'
      ? []
      : ratios.flatMap(({ cell, ratio: { low, high } }) =>
          cell === baseline || low === null || high === null ? [] : [Math.log(high / low) / 2],
        ),
  )
  return widths.length === 0 ? null : Math.expm1(median(widths))
}

/**
 * What a half-width becomes with more heats.
 * @param rows cells of a race, the twin included
 */
export function widthWith(heats: number, now: { width: number; heats: number; rows: number }): number {
  const quantile = (count: number) => tQuantile(0.975, Math.max(1, (now.rows - 1) * (count - 1)))
  const ratio = (quantile(heats) / quantile(now.heats)) * Math.sqrt(now.heats / heats)
  return Math.expm1(Math.log1p(now.width) * ratio)
}

/** Pairs of apps by rate: how many were shown to differ, of how many. */
export function countDecided({ races }: Pick<Analysis, 'races'>): { decided: number; of: number } {
  const pairs = races.filter(({ metric }) => metric === 'rate').flatMap((race) => race.pairs)
  return { decided: pairs.filter(isDecided).length, of: pairs.length }
}

/** Whether two apps were told apart. */
export function isDecided({ pAdjusted }: Pick<Race['pairs'][number], 'pAdjusted'>): boolean {
  return pAdjusted !== null && pAdjusted < SIGNIFICANT
}
