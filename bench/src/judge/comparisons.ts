import {
  differenceOf,
  type Estimate,
  holm,
  type Interval,
  pValue,
  rowMean,
  toInterval,
  withComponents,
} from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { smallestDifference } from '@startgrid/stats/student.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import { type Experiment, isRanked } from '../result/experiment.ts'
import type { Pair } from '../result/figures.ts'
import { ALL_METRICS, type Metric } from '../result/metrics.ts'
import type { Cell } from '../result/result.ts'
import { type JudgedCell, meanOf } from './launches.ts'

/** Below this, after Holm's correction over a family of comparisons, a difference counts as shown. */
export const SIGNIFICANT = 0.05

const POWER = 0.8

/** Whether two systems were told apart. */
export function isShown({ pAdjusted }: Pick<Pair, 'pAdjusted'>): boolean {
  return pAdjusted !== null && pAdjusted < SIGNIFICANT
}

/** One system over another. */
interface Comparison {
  ratio: Interval
  p: number | null
  /** Null with one launch. */
  estimate: Estimate | null
  /** How often both were started and measured. */
  starts: number
}

/**
 * Cells that are compared with each other: log launch value = cell + heat + error, cells and heats being the rows and columns of a two-way
 * layout. Logarithms, because what disturbs a rate or a cost does so by a factor.
 */
export interface Layout extends Fitted {
  race: string
  metric: Metric
  /** The rows; a twin is one of them. */
  cells: Cell[]
}

/** The launches of all valid cells, compared within their races. */
export class Comparisons {
  readonly #layouts: Layout[]

  /**
   * Systems of a race that ranks apps are compared within their topology. Launches vary for the same reasons in all of them, so their variances have one
   * prior; heats are fitted apart, for a slow minute need not slow NGINX as much as the apps.
   */
  constructor(judged: readonly JudgedCell[], races: Experiment['races']) {
    const valid = judged.filter((one) => one.void === null)
    this.#layouts = [...Map.groupBy(valid, ({ cell }) => cell.race)].flatMap(([race, own]) => {
      const groups = isRanked(races[race])
        ? [...Map.groupBy(own, ({ cell }) => cell.topology).values()]
        : [own]
      return ALL_METRICS.flatMap((metric) => {
        const layouts = groups.flatMap((group) => {
          const rows = group
            .map(({ cell, launches }) => ({ cell, logs: launches.map((one) => one?.logs[metric] ?? null) }))
            .filter(({ logs }) => logs.some((log) => log !== null))
          const cells = rows.map(({ cell }) => cell)
          const layout = { race, metric, cells, names: cells.map(({ app }) => app) }
          return rows.length === 0 ? [] : [{ ...layout, values: rows.map(({ logs }) => logs) }]
        })
        return fitLayouts(layouts)
      })
    })
  }

  /** Of a race that ranks, one for each topology. */
  layoutsOf(race: string, metric: Metric): Layout[] {
    return this.#layouts.filter((one) => one.race === race && one.metric === metric)
  }

  /** One system over another of its race; null if one was not measured. */
  readonly compare = (race: string, metric: Metric, over: string, under: string): Comparison | null => {
    const [layout, a] = this.#rowOf(race, metric, over)
    const [other, b] = this.#rowOf(race, metric, under)
    return layout === undefined || layout !== other ? null : compare(layout, a, b)
  }

  /** `over` / `under`, the latter perhaps of another race; null if one was not measured. */
  readonly ratio = (
    race: string,
    metric: Metric,
    over: string,
    under: string,
    against = race,
  ): Interval | null => {
    if (race === against) return this.compare(race, metric, over, under)?.ratio ?? null
    return across(this.#logsOf(race, metric, over), this.#logsOf(against, metric, under))
  }

  /** Geometric mean over launches; null if it was not measured. */
  value(race: string, metric: Metric, system: string): Interval | null {
    const [layout, row] = this.#rowOf(race, metric, system)
    return layout === undefined ? null : rowMean(layout, row)
  }

  #logsOf(race: string, metric: Metric, system: string): number[] {
    const [layout, row] = this.#rowOf(race, metric, system)
    return (layout?.values[row] ?? []).filter((log) => log !== null)
  }

  #rowOf(race: string, metric: Metric, system: string): [Layout | undefined, number] {
    const rowIn = ({ cells }: Layout) => cells.findIndex((one) => one.system === system)
    const layout = this.layoutsOf(race, metric).find((one) => rowIn(one) >= 0)
    return [layout, layout === undefined ? -1 : rowIn(layout)]
  }
}

/** Of two races, whose heats are not the same: the difference of two means, each with its own spread (Welch 1947, Biometrika 34:28). */
function across(over: readonly number[], under: readonly number[]): Interval | null {
  if (over.length === 0 || under.length === 0) return null
  const estimate = mean(over) - mean(under)
  if (over.length < 2 || under.length < 2) return { value: Math.exp(estimate), low: null, high: null }
  const parts = [over, under].map((logs) => ({
    variance: sampleVariance(logs) / logs.length,
    df: logs.length - 1,
  }))
  return toInterval(withComponents(estimate, parts, over.length + under.length - 2))
}

/** Row `a` over row `b`; without an interval where too few columns give none. */
export function compare(layout: Layout, a: number, b: number): Comparison {
  const { fit, values } = layout
  const [over = [], under = []] = [values[a], values[b]]
  const starts = over.filter((log, heat) => log !== null && (under[heat] ?? null) !== null).length
  if (a === b) return { ratio: { value: 1, low: 1, high: 1 }, p: null, estimate: null, starts }
  const estimate = differenceOf(layout, a, b)
  if (estimate === null) {
    const value = Math.exp(fit.contrast(a, b)?.estimate ?? (meanOf(over) ?? 0) - (meanOf(under) ?? 0))
    return { ratio: { value, low: null, high: null }, p: null, estimate, starts }
  }
  return { ratio: toInterval(estimate), p: pValue(estimate), estimate, starts }
}

/** p-values after Holm's correction over those that have one. */
export function adjust<One extends { p: number | null }>(
  comparisons: readonly One[],
): ReadonlyMap<One, number> {
  const tested = comparisons.filter(({ p }) => p !== null)
  const adjusted = holm(tested.map(({ p }) => p ?? 1))
  return new Map(tested.map((one, index) => [one, adjusted[index] ?? 1]))
}

/** The smallest ratio above 1 that is shown at 80 % power: alone, or at Holm's first step among so many. */
export function smallestRatio({ df, standardError }: Estimate, among = 1): number {
  return Math.exp(smallestDifference(df, SIGNIFICANT / among, POWER) * standardError)
}
