import { rowMean } from '@startgrid/stats/estimate.ts'
import { fitLayouts } from '@startgrid/stats/variances.ts'
import type { Metric, ProxyCost } from '../../model/figures.ts'
import type { CellRecord } from './record.ts'

/** One app behind NGINX, against itself without. */
interface Step {
  proxied: CellRecord
  /** Log proxied less log direct, per heat: what their launch has in common, and the heat, cancel out. */
  differences: (number | null)[]
}

/**
 * What NGINX costs each app of one race, by the differences within launches: difference = app + heat + error, for a heat may slow
 * NGINX otherwise than the apps. (`nginx-socket` is a launch of its own; its differences are within heats.)
 * @param records valid cells of one race; twins tell of the variance, but are not listed
 */
export function proxyCostsOf(records: readonly CellRecord[], metric: Metric): ProxyCost[] {
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
