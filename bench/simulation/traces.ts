import { mean } from '@startgrid/stats/moments.ts'
import { enterFields, type Field } from '../src/judge/analysis/field.ts'
import { counts, recordCells, serverSeconds } from '../src/judge/analysis/record.ts'
import type { Measured } from '../src/judge/analysis.ts'
import type { CellSpec, Heat, Slice } from '../src/model/result.ts'

/** What the calibration looks at, in real heats. */

/** The cells of one role in one result. */
export interface Trace {
  heats: Heat[]
  /** In CPU per request, one per topology. */
  fields: Field[]
  /** As `fields`, in rate. */
  rates: Field[]
  slices: TracedSlice[]
}

/** A measured slice, disturbed or not. */
export interface TracedSlice {
  heat: number
  slice: Slice
  /** Log CPU per request, less the mean of the slices of this cell and heat that count; null where these do not tell. */
  residual: number | null
}

/** Cells that failed in a heat are left out: what was measured of them is no variation. */
export function traceRoles({ cells, heats }: Pick<Measured, 'cells' | 'heats'>): Trace[] {
  const failed = new Set(heats.flatMap(({ failures }) => failures.map(({ cell }) => cell)))
  const valid = cells.filter(({ id }) => !failed.has(id))
  return [...Map.groupBy(valid, ({ role }) => role)].map(([role, own]) => {
    const ownHeats = heats.filter((heat) => heat.role === role)
    const records = recordCells(own, ownHeats)
    return {
      heats: ownHeats,
      fields: enterFields(records, 'cpu'),
      rates: enterFields(records, 'rate'),
      slices: records.flatMap(({ cell, slices }) =>
        slices.flatMap((launch, heat) => traceSlices(cell, launch, heat)),
      ),
    }
  })
}

function traceSlices(cell: CellSpec, slices: readonly Slice[], heat: number): TracedSlice[] {
  const level = mean(slices.filter(counts).flatMap((slice) => logCost(cell, slice) ?? []))
  return slices
    .filter(({ phase }) => phase === 'measure')
    .map((slice) => {
      const cost = logCost(cell, slice)
      return { heat, slice, residual: cost === null || Number.isNaN(level) ? null : cost - level }
    })
}

function logCost(cell: CellSpec, { cpuSeconds, requests }: Slice): number | null {
  const seconds = serverSeconds(cell, cpuSeconds)
  return seconds === null || seconds <= 0 || requests === 0 ? null : Math.log(seconds / requests)
}

/** The most that others took of a slice, a part of 1. */
export function lossOf({ disturbance }: Slice): number {
  return Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
}
