import {
  formatEnds,
  formatMs,
  formatPercent,
  formatRate,
  formatRateEnds,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, type Row, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import type { CapacityFigures, LatencyFigures, LatencyLevel, OverloadFigures } from '../model/figures.ts'
import { nameOf } from '../model/names.ts'
import type { CellSpec } from '../model/result.ts'

/** The tables of open-loop measurements, each of the cells of one role in one topology. */

export interface Measured<Figures> {
  spec: CellSpec
  figures: Figures
}

/** Highest rate first. */
export function capacityTable(cells: readonly Measured<CapacityFigures>[]): Table {
  const sorted = cells.toSorted((a, b) => (b.figures.rate?.value ?? 0) - (a.figures.rate?.value ?? 0))
  return tableOf<Measured<CapacityFigures>>(
    sorted,
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('capacity req/s', 0, (cell) => voidOr(cell, ({ rate }) => orUnknown(rate?.value, formatRate))),
      right('95 %', 0, ({ figures }) => (figures.rate === null ? '' : formatRateEnds(figures.rate))),
      right('confirmed', 1, ({ figures }) => `${figures.confirmed}/${figures.tried}`),
      right('closed loop', 1, ({ figures }) => orUnknown(figures.closedLoop, formatRate)),
      right('of closed loop', 2, ({ figures }) => orUnknown(shareOfClosedLoop(figures), formatPercent)),
      right('steps', 3, ({ figures }) => String(figures.steps.length)),
    ],
    toneOf,
  )
}

function shareOfClosedLoop({ rate, closedLoop }: CapacityFigures): number | null {
  return rate === null || closedLoop === null || closedLoop === 0 ? null : rate.value / closedLoop
}

interface LevelRow {
  spec: CellSpec
  figures: LatencyLevel
}

/** Level by level, so that apps under the same load stand together. */
export function latencyTable(cells: readonly Measured<LatencyFigures>[]): Table {
  const rows = cells.flatMap(({ spec, figures }) =>
    figures.levels.map((level) => ({
      spec,
      figures: { ...level, voidedBecause: level.voidedBecause ?? figures.voidedBecause },
    })),
  )
  const levels = [...Map.groupBy(rows, ({ figures }) => figures.level).values()]
  return tableOf<LevelRow>(
    levels.flat(),
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('load', 0, ({ figures }) => figures.level),
      right('req/s', 0, (row) => voidOr(row, ({ offered }) => formatRate(offered))),
      percentileColumn(50, 0),
      percentileColumn(90, 2),
      percentileColumn(99, 0),
      right('95 %', 1, ({ figures }) => percentileEnds(figures, 99)),
      percentileColumn(99.9, 1),
      percentileColumn(99.99, 3),
      right('achieved', 4, ({ figures }) => formatRate(figures.achieved)),
      right('launches', 5, ({ figures }) => String(figures.launches)),
      right('responses', 5, ({ figures }) => figures.requests.toLocaleString('en-US')),
      right('lag p99', 4, ({ figures }) => orUnknown(figures.lagP99Ms, formatMs)),
    ],
    toneOf,
  )
}

function percentileColumn(percentile: number, priority: number): ItemColumn<LevelRow> {
  return right(`p${percentile} ms`, priority, ({ figures }) =>
    orUnknown(figures.percentiles.find((one) => one.percentile === percentile)?.ms, formatMs),
  )
}

function percentileEnds({ percentiles }: LatencyLevel, percentile: number): string {
  const found = percentiles.find((one) => one.percentile === percentile)
  if (found === undefined || found.ms === null) return ''
  return formatEnds({ value: found.ms, low: found.low, high: found.high }, formatMs)
}

/** Best goodput first. */
export function overloadTable(cells: readonly Measured<OverloadFigures>[]): Table {
  const sorted = cells.toSorted((a, b) => (b.figures.goodputShare ?? 0) - (a.figures.goodputShare ?? 0))
  return tableOf<Measured<OverloadFigures>>(
    sorted,
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('capacity', 0, (cell) => voidOr(cell, ({ capacity }) => orUnknown(capacity, formatRate))),
      right('offered', 1, ({ figures }) => orUnknown(figures.offered, formatRate)),
      right('goodput', 0, ({ figures }) => orUnknown(figures.goodput?.value, formatRate)),
      right('95 %', 1, ({ figures }) => (figures.goodput === null ? '' : formatRateEnds(figures.goodput))),
      right('of capacity', 0, ({ figures }) => orUnknown(figures.goodputShare, formatPercent)),
      right('p99 ms', 0, ({ figures }) => orUnknown(figures.p99Ms, formatMs)),
      right('recovery s', 0, ({ figures }) =>
        orUnknown(figures.recoverySeconds, (seconds) => seconds.toFixed(1)),
      ),
      right('launches', 3, ({ figures }) => String(figures.launches)),
      left('errors', 2, ({ figures }) => errorsText(figures.errors)),
    ],
    toneOf,
  )
}

function errorsText(errors: Readonly<Record<string, number>>): string {
  const counts = Object.entries(errors).filter(([, count]) => count > 0)
  if (counts.length === 0) return 'none'
  return counts.map(([kind, count]) => `${count.toLocaleString('en-US')} ${kind}`).join(', ')
}

function toneOf({ figures }: { figures: { voidedBecause: string | null } }): Row['tone'] {
  return figures.voidedBecause === null ? 'plain' : 'void'
}

function voidOr<Figures extends { voidedBecause: string | null }>(
  { figures }: { figures: Figures },
  text: (figures: Figures) => string,
): string {
  if (figures.voidedBecause === null) return text(figures)
  const kept = text(figures)
  return kept === UNKNOWN ? 'void' : `void ${kept}`
}
