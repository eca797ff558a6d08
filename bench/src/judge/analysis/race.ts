import { BASELINE, type Topology } from '@startgrid/grid/apps.ts'
import {
  type Estimate,
  estimateOf,
  type Interval,
  pValue,
  rowMean,
  toInterval,
} from '@startgrid/stats/estimate.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { holm, rankRanges } from '@startgrid/stats/multiplicity.ts'
import { smallestDifference } from '@startgrid/stats/power.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import type { Cell } from '../../model/cell.ts'
import type { Control, MainMetric, Pair, ProxyCost, RaceFigures } from '../../model/figures.ts'
import type { CellRecord } from './record.ts'

/** Below this, after Holm's correction over a family of comparisons, a difference counts as shown. */
export const SIGNIFICANT = 0.05

const POWER = 0.8

/** Whether two systems were told apart. */
export function isShown({ pAdjusted }: Pick<Pair, 'pAdjusted'>): boolean {
  return pAdjusted !== null && pAdjusted < SIGNIFICANT
}

/** A difference between twins that is less likely than this makes the run suspect: it should be seen in one run of 200. */
const SUSPECT = 0.005

/** A comparison of two rows of a layout. */
interface Comparison {
  ratio: Interval
  p: number | null
  /** Null with one launch. */
  estimate: Estimate | null
}

/**
 * The race that a layout gives: all pairs, ranks, the A/A control and what it could have shown.
 * @returns null if there is nobody to rank
 */
export function raceOf(layout: RaceLayout): RaceFigures | null {
  const racers = layout.records.flatMap(({ cell }, row) => (cell.twinOf === null ? [{ cell, row }] : []))
  const baseline = racers.find(({ cell }) => cell.title === BASELINE) ?? racers[0]
  if (baseline === undefined) return null
  const comparisons = racers.flatMap((a, index) =>
    racers.slice(index + 1).map((b) => ({ a: a.cell.id, b: b.cell.id, ...compare(layout, a.row, b.row) })),
  )
  const adjusted = adjust(comparisons)
  const pairs = comparisons.map((one): Pair => {
    const { a, b, ratio, p } = one
    return { a, b, ratio, p, pAdjusted: adjusted.get(one) ?? null }
  })
  const ratios = racers.map(({ cell, row }) => ({
    cell: cell.id,
    ratio: compare(layout, row, baseline.row).ratio,
  }))
  return {
    race: baseline.cell.race,
    topology: layout.topology,
    metric: layout.metric,
    baseline: baseline.cell.id,
    ranks: rank(ratios, pairs, layout.metric),
    ratios,
    pairs,
    control: controlOf(layout),
    smallestEffect: smallestEffect(comparisons.flatMap(({ estimate }) => estimate ?? [])),
    // The coefficient of variation of a lognormal variable.
    launchSpread: layout.variances === null ? null : Math.sqrt(Math.expm1(layout.fit.pooled.variance)),
  }
}

/** Row `a` over row `b`; without an interval where too few columns give none. */
export function compare({ fit, variances, values }: Fitted, a: number, b: number): Comparison {
  if (a === b) return { ratio: { value: 1, low: 1, high: 1 }, p: null, estimate: null }
  const contrast = fit.contrast(a, b)
  if (contrast === null || variances === null) {
    const value = Math.exp(contrast?.estimate ?? meanOf(values[a]) - meanOf(values[b]))
    return { ratio: { value, low: null, high: null }, p: null, estimate: null }
  }
  const estimate = estimateOf(contrast, variances)
  return { ratio: toInterval(estimate), p: pValue(estimate), estimate }
}

function meanOf(logs: readonly (number | null)[] = []): number {
  return mean(logs.filter((log) => log !== null))
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

/** Best first: the highest rate, or the lowest cost. */
function rank(
  ratios: RaceFigures['ratios'],
  pairs: readonly Pair[],
  metric: MainMetric,
): RaceFigures['ranks'] {
  const sign = metric === 'rate' ? -1 : 1
  const order = ratios.toSorted((one, other) => sign * (one.ratio.value - other.ratio.value))
  const beaten = new Set(
    pairs
      .filter(isShown)
      .map(({ a, b, ratio }) => (ratio.value > 1 === (metric === 'rate') ? `${a} ${b}` : `${b} ${a}`)),
  )
  return rankRanges(
    order.map(({ cell }) => cell),
    (better, worse) => beaten.has(`${better} ${worse}`),
  ).map(({ name, from, to }) => ({ cell: name, from, to }))
}

/** The twin over the app that it equals. */
function controlOf(layout: RaceLayout): Control | null {
  const twin = layout.records.findIndex(({ cell }) => cell.twinOf !== null)
  const original = layout.records.findIndex(({ cell }) => cell.app === specOf(layout, twin)?.twinOf)
  const [twinSpec, originalSpec] = [specOf(layout, twin), specOf(layout, original)]
  if (twinSpec === undefined || originalSpec === undefined) return null
  const { ratio, p } = compare(layout, twin, original)
  return { twin: twinSpec.id, original: originalSpec.id, ratio, p, suspect: p !== null && p < SUSPECT }
}

function specOf({ records }: RaceLayout, row: number): Cell | undefined {
  return records[row]?.cell
}

/** Of a pair with the median standard error; with Holm, where all other pairs are tied and it has the smallest p-value. */
function smallestEffect(estimates: readonly Estimate[]): RaceFigures['smallestEffect'] {
  const typical = estimates.toSorted((a, b) => a.standardError - b.standardError)[
    Math.floor(estimates.length / 2)
  ]
  if (typical === undefined) return null
  return { single: smallestRatio(typical), adjusted: smallestRatio(typical, estimates.length) }
}

/**
 * What one race is judged by: log launch value = cell + heat + error, cells and heats being the rows and columns of a two-way layout.
 * Logarithms, because what disturbs a rate or a cost does so by a factor.
 */
export interface RaceLayout extends Fitted {
  topology: Topology
  metric: MainMetric
  /** The rows; the A/A twin is one of them. */
  records: Pick<CellRecord, 'cell'>[]
}

/**
 * The layouts of one role in one metric, one per topology. Launches vary for the same reasons in all of them, so their variances have
 * one prior; heats are fitted apart, for a slow minute need not slow NGINX as much as the apps.
 * @param records valid cells of one role; those without a launch are left out
 */
export function raceLayouts(records: readonly CellRecord[], metric: MainMetric): RaceLayout[] {
  const entered = records.filter(({ logs }) => logs[metric].some((log) => log !== null))
  const groups = [...Map.groupBy(entered, ({ cell }) => cell.topology)]
  const layouts = groups.map(([topology, own]) => ({
    topology,
    metric,
    records: own,
    names: own.map(({ cell }) => cell.app),
    values: own.map(({ logs }) => [...logs[metric]]),
  }))
  return fitLayouts(layouts)
}

/** One app behind NGINX, against itself without. */
interface Step {
  proxied: CellRecord
  /** Log proxied less log direct, per heat: what their launch has in common, and the heat, cancel out. */
  differences: (number | null)[]
}

/**
 * What NGINX costs each app of one race, by the differences within launches: difference = app + heat + error, for a heat may slow
 * NGINX otherwise than the apps.
 * @param records valid cells of one race; twins tell of the variance, but are not listed
 */
export function proxyCostsOf(records: readonly CellRecord[], metric: MainMetric): ProxyCost[] {
  const direct = new Map(
    records.filter(({ cell }) => cell.topology === 'direct').map((record) => [record.cell.app, record]),
  )
  const steps = records.flatMap((proxied): Step[] => {
    const own = direct.get(proxied.cell.app)
    if (own === undefined || own === proxied) return []
    const differences = proxied.logs[metric].map((log, heat) =>
      difference(log, own.logs[metric][heat] ?? null),
    )
    return differences.some((one) => one !== null) ? [{ proxied, differences }] : []
  })
  const layouts = [...Map.groupBy(steps, ({ proxied }) => proxied.cell.topology).values()].map((rows) => ({
    names: rows.map(({ proxied }) => proxied.cell.app),
    values: rows.map(({ differences }) => differences),
    cells: rows.map(({ proxied }) => proxied.cell),
  }))
  return fitLayouts(layouts).flatMap((fitted) =>
    fitted.cells.flatMap(({ app, race, topology, twinOf }, row) =>
      twinOf === null ? [{ app, race, topology, metric, ratio: rowMean(fitted, row) }] : [],
    ),
  )
}

function difference(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a - b
}
