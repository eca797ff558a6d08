import type { Topology } from '@startgrid/grid/apps.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import type { Metric } from '../../model/figures.ts'
import type { CellRecord } from './record.ts'

/**
 * What one race is judged by: log launch value = cell + heat + error, cells and heats being the rows and columns of a two-way layout.
 * Logarithms, because what disturbs a rate or a cost does so by a factor.
 */
export interface RaceLayout extends Fitted {
  topology: Topology
  metric: Metric
  /** The rows; the A/A twin is one of them. */
  records: Pick<CellRecord, 'cell'>[]
}

/**
 * The layouts of one role in one metric, one per topology. Launches vary for the same reasons in all of them, so their variances have
 * one prior; heats are fitted apart, for a slow minute need not slow NGINX as much as the apps.
 * @param records valid cells of one role; those without a launch are left out
 */
export function raceLayouts(records: readonly CellRecord[], metric: Metric): RaceLayout[] {
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
