import type { CpuSeconds } from '@startgrid/machine/accounts/sample.ts'
import type { Cell } from '../../model/cell.ts'
import type { MainMetric } from '../../model/figures.ts'
import type { Heat, Slice } from '../../model/heat.ts'
import { fitHeat, keptSlices } from './passes.ts'

/** All that was measured of one cell, launch by launch. */
export interface CellRecord {
  cell: Cell
  /** Of the cell, per heat of its race, in the order in which they were measured. */
  slices: Slice[][]
  /** Those that count. */
  counted: Slice[][]
  /** Per heat: what the slices that count add up to; null where there is none. */
  launches: (LaunchTotals | null)[]
  /** Per heat: the logarithm of its value in a pass of average speed, which is the launch's value. Null where it is not known. */
  logs: Readonly<Record<MainMetric, readonly (number | null)[]>>
}

/** A cell, and whether its number may be used. */
export interface JudgedCell {
  record: CellRecord
  /** Why it may not: a clause without the full stop. */
  void: string | null
}

/** What the slices of one launch that count add up to. */
export interface LaunchTotals {
  seconds: number
  requests: number
  /** Null where the system did not tell, or not of every slice. */
  cpuSeconds: CpuSeconds
}

/** The slices of each cell, heat by heat, fitted in passes. Slices of other cells have no part in it. */
export function recordCells(cells: readonly Cell[], heats: readonly Heat[]): CellRecord[] {
  const counted = new Map(
    heats.map((heat) => [
      heat,
      [...Map.groupBy(keptSlices(heat).slices, ({ cell }) => cell).values()].flat(),
    ]),
  )
  const fits = new Map(
    heats.map((heat) => {
      const slices = counted.get(heat) ?? []
      return [heat, { rate: fitHeat(cells, slices, 'rate'), cpu: fitHeat(cells, slices, 'cpu') }]
    }),
  )
  return cells.map((cell) => {
    const own = heats.filter(({ race }) => race === cell.race)
    const logs = (metric: MainMetric) => own.map((heat) => fits.get(heat)?.[metric].get(cell.id) ?? null)
    const mine = own.map((heat) => (counted.get(heat) ?? []).filter((slice) => slice.cell === cell.id))
    return {
      cell,
      slices: own.map((heat) => heat.slices.filter((slice) => slice.cell === cell.id)),
      counted: mine,
      launches: mine.map(totalOf),
      logs: { rate: logs('rate'), cpu: logs('cpu') },
    }
  })
}

function totalOf(slices: readonly Slice[]): LaunchTotals | null {
  if (slices.length === 0) return null
  const sum = (value: (slice: Slice) => number) => slices.reduce((total, slice) => total + value(slice), 0)
  const cpu = (part: keyof CpuSeconds) =>
    slices.some(({ cpuSeconds }) => cpuSeconds[part] === null)
      ? null
      : sum(({ cpuSeconds }) => cpuSeconds[part] ?? 0)
  return {
    seconds: sum(({ seconds }) => seconds),
    requests: sum(({ requests }) => requests),
    cpuSeconds: { app: cpu('app'), proxy: cpu('proxy'), generator: cpu('generator') },
  }
}
