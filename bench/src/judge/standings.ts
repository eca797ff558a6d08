import type { Topology } from '@startgrid/grid/apps.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { Analysis, CellFigures, RaceFigures } from '../result/figures.ts'
import type { MainMetric } from '../result/metrics.ts'
import type { Cell, Result } from '../result/result.ts'
import { isShown } from './comparisons.ts'

/** A race as reports show it: its cells in order, with their ranks and ratios in both metrics. */
export interface Standing {
  race: string
  topology: Topology
  /** What every cell was asked. */
  workload: string | null
  connections: number
  /** By metric; null where nothing could be compared. The rate ranks: neighbours that nobody sees move CPU per request as much. */
  races: Readonly<Record<MainMetric, RaceFigures | null>>
  /** Best first, voided cells last. Without twins and cells that were not tried. */
  entries: StandingEntry[]
}

export interface StandingEntry {
  spec: Cell
  figures: CellFigures
  /** Null if it is voided or nothing was measured. */
  places: Readonly<Record<MainMetric, Place | null>>
}

interface Place {
  from: number
  to: number
  /** Over the baseline; null for a race without one. */
  ratio: Interval | null
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
    const find = (metric: MainMetric) =>
      analysis?.races.find(
        (one) => one.race === race && one.topology === topology && one.metric === metric,
      ) ?? null
    const races = { rate: find('rate'), cpu: find('cpu') }
    const order = new Map(races.rate?.ranks.map(({ cell }, index) => [cell, index]))
    const position = ({ spec }: (typeof own)[number]) => order.get(spec.id) ?? order.size
    const placed = own
      .toSorted((a, b) => position(a) - position(b))
      .map((one) => ({
        ...one,
        places: { rate: placeIn(races.rate, one.spec), cpu: placeIn(races.cpu, one.spec) },
      }))
    return { race, topology, workload, connections, races, entries: placed }
  })
}

function placeIn(race: RaceFigures | null, { id }: Cell): Place | null {
  const rank = race?.ranks.find(({ cell }) => cell === id)
  if (rank === undefined) return null
  const ratio = race?.ratios.find(({ cell }) => cell === id)?.ratio ?? null
  return { from: rank.from, to: rank.to, ratio }
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

/** Pairs of apps by rate: how many were shown to differ, of how many. */
export function countDecided({ races }: Pick<Analysis, 'races'>): { decided: number; of: number } {
  const pairs = races.filter(({ metric }) => metric === 'rate').flatMap((race) => race.pairs)
  return { decided: pairs.filter(isShown).length, of: pairs.length }
}
