import type { CpuSeconds } from '@startgrid/machine/accounts.ts'
import { fitPassBlocks } from '@startgrid/stats/pass-blocks.ts'
import type { Heat, Slice } from '../result/heat.ts'
import type { MainMetric } from '../result/metrics.ts'
import type { Cell } from '../result/result.ts'
import { isCrowded, isQuiet } from './disturbance.ts'

/** One heat in passes: log value = cell + pass + error. */

/** CPU seconds of server and proxy; null if one that takes part is not known. */
export function serverSeconds(
  { topology }: Pick<Cell, 'topology'>,
  { app, proxy }: Pick<CpuSeconds, 'app' | 'proxy'>,
): number | null {
  if (topology === 'direct') return app
  return app === null || proxy === null ? null : app + proxy
}

/**
 * Measured slices without those that others visibly disturbed; all of a cell, if less than half of its slices remained: such cells are `crowded`.
 */
export function keptSlices({ slices }: Heat): { slices: Slice[]; crowded: ReadonlySet<string> } {
  const measured = slices.filter(({ phase }) => phase === 'measure')
  const crowded = new Set(
    [...Map.groupBy(measured, ({ cell }) => cell)].flatMap(([cell, own]) => (isCrowded(own) ? [cell] : [])),
  )
  return { slices: measured.filter((slice) => crowded.has(slice.cell) || isQuiet(slice)), crowded }
}

/** A cell with slices this many times as long as those of others has noise of its own. */
const LONG = 2

/**
 * @param slices of one heat, those that count; without a value they are left out
 * @returns the logarithm of each cell's value in a pass of average speed
 */
export function fitHeat(
  cells: readonly Cell[],
  slices: readonly Slice[],
  metric: MainMetric,
): ReadonlyMap<string, number> {
  const specs = new Map(cells.map((cell) => [cell.id, cell]))
  const used = slices.flatMap((slice) => {
    const spec = specs.get(slice.cell)
    const value = spec === undefined ? null : sliceValue(spec, slice, metric)
    return value === null ? [] : [{ slice, value: Math.log(value) }]
  })
  const names = [...new Set(used.map(({ slice }) => slice.cell))]
  const longest = names.map((name) =>
    Math.max(...used.filter(({ slice }) => slice.cell === name).map(({ slice }) => slice.seconds)),
  )
  const typical = Math.min(...longest)
  const effects = fitPassBlocks(
    used.map(({ slice, value }) => ({ cell: names.indexOf(slice.cell), pass: (slice.pass ?? 1) - 1, value })),
    longest.map((seconds) => Number(seconds > LONG * typical)),
  )
  return new Map(
    names.flatMap((name, index): [string, number][] => {
      const effect = effects[index] ?? null
      return effect === null ? [] : [[name, effect]]
    }),
  )
}

/** Responses per second, or CPU seconds per request; null if there were no responses, or the CPU is not known. */
function sliceValue(cell: Cell, { requests, seconds, cpuSeconds }: Slice, metric: MainMetric): number | null {
  const value = metric === 'rate' ? requests / seconds : (serverSeconds(cell, cpuSeconds) ?? 0) / requests
  return Number.isFinite(value) && value > 0 ? value : null
}
