import { type Estimate, estimateOf, withComponents } from '@startgrid/stats/estimate.ts'
import { mean, median, sampleVariance } from '@startgrid/stats/moments.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import type { Cell } from '../../model/cell.ts'
import type { Metric } from '../../model/figures.ts'
import type { StoredResult } from '../../model/result.ts'
import { type CellRecord, recordCells } from '../analysis/record.ts'

/** The cells of one race in two runs: B less A on the scale of logarithms. */

interface Differences {
  /** The median over cells; null with fewer than three, of which one alone would move it. */
  shift: number | null
  cells: Difference[]
}

interface Difference {
  spec: Cell
  launches: { a: number; b: number }
  /** Mean logarithm of launches. */
  means: { a: number; b: number }
  /** Null with one launch. */
  plain: Estimate | null
  /** Without the shift; null with one launch or without a shift. */
  normalised: Estimate | null
}

const FEWEST_FOR_SHIFT = 3

/** The cells of a run that were tried. Passes are fitted with all cells of a heat, as in the run's own analysis. */
export function recordRun(result: StoredResult): CellRecord[] {
  const tried: readonly Cell[] = result.cells.filter(({ skipped }) => skipped === null)
  return recordCells(tried, result.heats)
}

/**
 * @param cells of one race
 * @param a the records of one run, as of `recordRun`
 * @param b those of the other
 * @returns null if one of the runs lacks the metric in one of the cells
 */
export function differencesOf(
  cells: readonly Cell[],
  a: readonly CellRecord[],
  b: readonly CellRecord[],
  metric: Metric,
): Differences | null {
  const [inA, inB] = [layoutOf(cells, a, metric), layoutOf(cells, b, metric)]
  if (inA === null || inB === null) return null
  const shift =
    cells.length < FEWEST_FOR_SHIFT
      ? null
      : median(cells.map((_, row) => levelOf(inB, row) - levelOf(inA, row)))
  return {
    shift,
    cells: cells.map((spec, row) => {
      const logs = { a: logsOf(inA, row), b: logsOf(inB, row) }
      return {
        spec,
        launches: { a: logs.a.length, b: logs.b.length },
        means: { a: mean(logs.a), b: mean(logs.b) },
        plain: difference(meanOf(logs.a), meanOf(logs.b)),
        normalised:
          shift === null
            ? null
            : difference(levelAgainstMedian(inA, row, shift), levelAgainstMedian(inB, row, 0)),
      }
    }),
  }
}

/** The rows are in the order of the cells. */
function layoutOf(cells: readonly Cell[], records: readonly CellRecord[], metric: Metric): Fitted | null {
  const own = cells.flatMap(({ id }) => records.find(({ cell }) => cell.id === id) ?? [])
  const known = own.filter(({ logs }) => logs[metric].some((log) => log !== null))
  if (known.length < cells.length) return null
  const layout = {
    names: known.map(({ cell }) => cell.id),
    values: known.map(({ logs }) => [...logs[metric]]),
  }
  return fitLayouts([layout])[0] ?? null
}

function logsOf({ values }: Fitted, row: number): number[] {
  return (values[row] ?? []).filter((log) => log !== null)
}

/** The mean of launches as they came: what heats add is in its variance. */
function meanOf(logs: readonly number[]): Estimate | null {
  if (logs.length < 2) return null
  const standardError = Math.sqrt(sampleVariance(logs) / logs.length)
  return { estimate: mean(logs), standardError, df: logs.length - 1 }
}

/**
 * Where a cell stands in its run. A cell that missed a heat would else stand where the heats happened to be that it took part in:
 * their effects are taken out.
 */
function levelOf(layout: Fitted, row: number): number {
  const effects = layout.fit.columns
  if (effects === null) return mean(logsOf(layout, row))
  const heats = (layout.values[0] ?? []).flatMap((_, heat) =>
    layout.values.some((row) => row[heat] !== null) ? [heat] : [],
  )
  const centre = mean(effects)
  return mean(
    heats.flatMap((heat, index) => {
      const log = layout.values[row]?.[heat] ?? null
      return log === null ? [] : [log - (effects[index] ?? centre) + centre]
    }),
  )
}

/**
 * How sure the level of a cell against the median of its race is. Heats move all alike and drop out. The variance of a median is about
 * π/2 times that of the mean (Kendall and Stuart 1977, The Advanced Theory of Statistics 1, section 10.10, for a normal
 * distribution); that the cell itself is in it is left out, which makes the interval a little too wide.
 */
function levelAgainstMedian(layout: Fitted, row: number, shift: number): Estimate | null {
  if (layout.variances === null) return null
  const rows = layout.values.length
  const loads = layout.values.map((_, other) => {
    const launches = logsOf(layout, other).length
    return (Number(other === row) + Math.PI / 2 / rows ** 2) / launches
  })
  return estimateOf({ estimate: levelOf(layout, row) + shift, loads }, layout.variances)
}

/** The second less the first of two independent estimates (Welch 1947, Biometrika 34:28). */
function difference(a: Estimate | null, b: Estimate | null): Estimate | null {
  if (a === null || b === null) return null
  const components = [a, b].map(({ standardError, df }) => ({ variance: standardError ** 2, df }))
  return withComponents(b.estimate - a.estimate, components, a.df + b.df)
}
