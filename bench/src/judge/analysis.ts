import type { Cell } from '../model/cell.ts'
import type { Analysis, MainMetric } from '../model/figures.ts'
import type { Heat } from '../model/heat.ts'
import type { RaceResult } from '../model/result.ts'
import { figuresOf } from './analysis/cell.ts'
import { latenciesOf } from './analysis/latency.ts'
import { proxyCostsOf, raceLayouts, raceOf } from './analysis/race.ts'
import { type CellRecord, type JudgedCell, recordCells } from './analysis/record.ts'
import { type Evidence, whyVoid } from './gates.ts'

/** What was measured, and what judges it. */
export type Measured = Pick<RaceResult, 'cells' | 'heats' | 'conformance' | 'settings' | 'stolen'>

const METRICS: readonly MainMetric[] = ['rate', 'cpu']

/**
 * All figures that follow from heats: pure, so that a result can be analysed again. Each race is analysed by itself; within it, a cell
 * that is void gets no figures, and no other figure has its numbers in it. Skipped cells are not in it at all.
 */
export function analyse(measured: Measured, judge = whyVoid): Analysis {
  const { heats } = measured
  const cells = measured.cells.filter(({ skipped }) => skipped === null)
  const { judged, shown } = judgeCells(cells, heats, (record) => judge(evidenceOf(record, measured)))
  const races = [...Map.groupBy(shown, ({ cell }) => cell.race).values()]
  const layouts = races.flatMap((records) => METRICS.flatMap((metric) => raceLayouts(records, metric)))
  const latencies = new Map(races.flatMap((own) => [...latenciesOf(own, heats, measured.settings)]))
  return {
    cells: judged.map((one) => ({
      ...figuresOf(one, heats, layouts),
      ...latencies.get(one.record.cell.id),
    })),
    races: layouts.flatMap((layout) => raceOf(layout) ?? []),
    proxyCosts: races.flatMap((records) => METRICS.flatMap((metric) => proxyCostsOf(records, metric))),
  }
}

/**
 * All gates, and then the records again without the cells that are void: a number that does not count has no part in a pass.
 * @param cells that were tried
 */
export function judgeCells(
  cells: readonly Cell[],
  heats: readonly Heat[],
  judge: (record: CellRecord) => string | null,
): { judged: JudgedCell[]; shown: CellRecord[] } {
  const judged = recordCells(cells, heats).map((record): JudgedCell => ({ record, void: judge(record) }))
  const shown = recordCells(
    judged.filter((one) => one.void === null).map(({ record }) => record.cell),
    heats,
  )
  return { judged, shown }
}

export function evidenceOf(
  { cell, slices, counted }: CellRecord,
  measured: Omit<Measured, 'cells'>,
): Evidence {
  const { conformance, heats, settings, stolen } = measured
  return {
    cell,
    conformance: conformance.find((one) => one.cell === cell.id) ?? null,
    slices: slices.flat(),
    counted: counted.flat(),
    failures: heats.flatMap(({ failures }) =>
      failures.filter((one) => one.cell === cell.id).map(({ reason }) => reason),
    ),
    cores: settings.cores,
    stolen,
  }
}
