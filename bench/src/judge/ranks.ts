import { BASELINE, type Topology } from '@startgrid/grid/apps.ts'
import { type Estimate, type Interval, rankRanges, rowMean } from '@startgrid/stats/estimate.ts'
import { fitLayouts } from '@startgrid/stats/variances.ts'
import type { CellFigures, Control, Pair, ProxyCost, RaceFigures } from '../result/figures.ts'
import type { MainMetric } from '../result/metrics.ts'
import type { Cell, Result } from '../result/result.ts'
import { adjust, compare, isShown, type Layout, smallestRatio } from './comparisons.ts'
import type { JudgedCell } from './launches.ts'

/** A difference between twins that is less likely than this makes the run suspect: it should be seen in one run of 200. */
const SUSPECT = 0.005

/**
 * The race that a layout gives: all pairs, ranks, the A/A control and what it could have shown.
 * @returns null if there is nobody to rank
 */
export function raceOf(layout: Layout, metric: MainMetric): RaceFigures | null {
  const racers = layout.cells.flatMap((cell, row) => (cell.twinOf === null ? [{ cell, row }] : []))
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
    race: layout.race,
    topology: baseline.cell.topology,
    metric,
    baseline: baseline.cell.id,
    ranks: rank(ratios, pairs, metric),
    ratios,
    pairs,
    control: controlOf(layout),
    smallestEffect: smallestEffect(comparisons.flatMap(({ estimate }) => estimate ?? [])),
  }
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
function controlOf(layout: Layout): Control | null {
  const row = layout.cells.findIndex(({ twinOf }) => twinOf !== null)
  const twin = layout.cells[row]
  const original = layout.cells.find(({ app }) => app === twin?.twinOf)
  if (twin === undefined || original === undefined) return null
  const { ratio, p } = compare(layout, row, layout.cells.indexOf(original))
  return { twin: twin.id, original: original.id, ratio, p, suspect: p !== null && p < SUSPECT }
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
 * What NGINX costs each app of one race, by the differences within launches, from which what these have in common cancels out: difference = app + heat
 * + error, for a heat may slow NGINX otherwise than the apps.
 * @param judged cells of one race; twins tell of the variance, but are not listed
 */
export function proxyCostsOf(judged: readonly JudgedCell[], metric: MainMetric): ProxyCost[] {
  const valid = judged.filter((one) => one.void === null)
  const rows = valid.flatMap(({ cell, launches }) => {
    const direct = valid.find((one) => one.cell.app === cell.app && one.cell.topology === 'direct')
    if (cell.topology === 'direct' || direct === undefined) return []
    const differences = launches.map((launch, heat) => {
      const [own, plain] = [launch?.logs[metric], direct.launches[heat]?.logs[metric]]
      return own === undefined || plain === undefined ? null : own - plain
    })
    return differences.some((one) => one !== null) ? [{ cell, differences }] : []
  })
  const layouts = [...Map.groupBy(rows, ({ cell }) => cell.topology).values()].map((own) => ({
    names: own.map(({ cell }) => cell.app),
    values: own.map(({ differences }) => differences),
    cells: own.map(({ cell }) => cell),
  }))
  return fitLayouts(layouts).flatMap((fitted) =>
    fitted.cells.flatMap(({ app, race, topology, twinOf }, row) =>
      twinOf === null ? [{ app, race, topology, metric, ratio: rowMean(fitted, row) }] : [],
    ),
  )
}

/** A race as reports show it: its cells in order, with their ranks and ratios. */
export interface Standing {
  race: string
  topology: Topology
  /** What every cell was asked. */
  workload: string | null
  connections: number
  /** Null where nothing could be compared. The rate ranks: neighbours that nobody sees move CPU per request as much. */
  ranked: RaceFigures | null
  /** Best first, voided cells last. Without twins and cells that were not tried. */
  entries: StandingEntry[]
}

export interface StandingEntry {
  spec: Cell
  figures: CellFigures
  /** With the ratio over the baseline, which is null for a race without one. Null if it is voided or nothing was measured. */
  place: { from: number; to: number; ratio: Interval | null } | null
}

/** All races of the result in the order of its cells; those of which nothing was measured yet are left out. */
export function standingsOf({ cells, analysis }: Pick<Result, 'cells' | 'analysis'>): Standing[] {
  const entries = cells.flatMap((spec) => {
    const figures = analysis?.cells.find(({ cell }) => cell === spec.id)
    return figures === undefined || spec.skipped !== null || spec.twinOf !== null ? [] : [{ spec, figures }]
  })
  const groups = Map.groupBy(entries, ({ spec: { race, topology } }) => `${race} ${topology}`)
  return [...groups.values()].flatMap((own) => {
    const [first] = own
    const isTold = own.some(({ figures }) => figures.slices > 0 || figures.void !== null)
    if (first === undefined || !isTold) return []
    const { race, topology, workload, connections } = first.spec
    const isOwn = (one: RaceFigures) => one.race === race && one.topology === topology
    const ranked = analysis?.races.find((one) => isOwn(one) && one.metric === 'rate') ?? null
    const order = new Map(ranked?.ranks.map(({ cell }, index) => [cell, index]))
    const position = ({ spec }: (typeof own)[number]) => order.get(spec.id) ?? order.size
    const placed = own
      .toSorted((a, b) => position(a) - position(b))
      .map((one) => ({ ...one, place: placeIn(ranked, one.spec) }))
    return { race, topology, workload, connections, ranked, entries: placed }
  })
}

function placeIn(race: RaceFigures | null, { id }: Cell): StandingEntry['place'] {
  const rank = race?.ranks.find(({ cell }) => cell === id)
  const ratio = race?.ratios.find(({ cell }) => cell === id)?.ratio ?? null
  return rank === undefined ? null : { from: rank.from, to: rank.to, ratio }
}
