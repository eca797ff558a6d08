import { rowMean } from '@startgrid/stats/estimate.ts'
import { fitLayouts } from '@startgrid/stats/variances.ts'
import type { CellFigures } from '../../model/figures.ts'
import type { Heat } from '../../model/heat.ts'
import type { Settings } from '../../model/settings.ts'
import { openFigures } from '../study/open-figures.ts'
import type { CellRecord } from './record.ts'

/** Latencies of a race of the grid, at one rate for all of its systems. */

type Latency = Pick<CellFigures, 'openLoop' | 'p50' | 'p99'>

const PERCENTILES = [
  ['p50', 'median-latency'],
  ['p99', 'p99-latency'],
] as const

/** By cell, of those whose latency was asked for: log latency of a launch = cell + heat + error. @param records valid cells of one race */
export function latenciesOf(
  records: readonly CellRecord[],
  heats: readonly Heat[],
  settings: Pick<Settings, 'heats'>,
): ReadonlyMap<string, Latency> {
  const asked = records.flatMap(({ cell }) => {
    const own = heats.filter(({ race }) => race === cell.race)
    const open = openFigures(cell, own, settings)
    return open === null ? [] : [{ cell, open }]
  })
  const found = new Map(
    asked.map(({ cell, open }): [string, Latency] => [cell.id, { openLoop: open.judged }]),
  )
  for (const [name, metric] of PERCENTILES) {
    const rows = asked.filter(({ open }) => open.launches.some((one) => one?.[metric]))
    const layouts = [...Map.groupBy(rows, ({ cell }) => cell.topology).values()].map((own) => ({
      names: own.map(({ cell }) => cell.id),
      values: own.map(({ open }) =>
        open.launches.map((one) => (one?.[metric] ? Math.log(one[metric]) : null)),
      ),
    }))
    for (const fitted of fitLayouts(layouts))
      for (const [row, cell] of fitted.names.entries())
        Object.assign(found.get(cell) ?? {}, { [name]: rowMean(fitted, row) })
  }
  return found
}
