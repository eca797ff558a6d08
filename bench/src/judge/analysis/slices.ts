import type { CpuSeconds } from '@startgrid/machine/accounts/sample.ts'
import { mean } from '@startgrid/stats/moments.ts'
import type { Cell } from '../../model/cell.ts'
import type { MainMetric } from '../../model/figures.ts'
import type { Slice } from '../../model/heat.ts'

/** Measured, and nobody visibly disturbed it. */
export function isQuiet({ phase, disturbed }: Pick<Slice, 'phase' | 'disturbed'>): boolean {
  return phase === 'measure' && !disturbed
}

/** CPU seconds of server and proxy; null if one that takes part is not known. */
export function serverSeconds(
  { topology }: Pick<Cell, 'topology'>,
  { app, proxy }: CpuSeconds,
): number | null {
  if (topology === 'direct') return app
  return app === null || proxy === null ? null : app + proxy
}

/** Responses per second, or CPU seconds per request; null if there were no responses, or the CPU is not known. */
export function sliceValue(
  cell: Pick<Cell, 'topology'>,
  { requests, seconds, cpuSeconds }: Pick<Slice, 'requests' | 'seconds' | 'cpuSeconds'>,
  metric: MainMetric,
): number | null {
  const value = metric === 'rate' ? requests / seconds : (serverSeconds(cell, cpuSeconds) ?? 0) / requests
  return Number.isFinite(value) && value > 0 ? value : null
}

/** Of what is known. */
export function meanOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : mean(known)
}
