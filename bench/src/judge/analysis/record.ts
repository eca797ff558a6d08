import type { CpuSeconds } from '@startgrid/machine/accounts/sample.ts'
import type { Metric } from '../../model/figures.ts'
import type { CellSpec, Heat, Slice } from '../../model/result.ts'

/** All that was measured of one cell, launch by launch. */
export interface CellRecord {
  cell: CellSpec
  /** Of the cell, per heat of its role, in the order in which they were measured. */
  slices: Slice[][]
  /** Per heat; null where no slice of it counts. */
  launches: (LaunchTotals | null)[]
}

/** What the slices of one launch that count add up to. */
export interface LaunchTotals {
  seconds: number
  requests: number
  /** Seconds that all requests waited for their answers, added up. */
  waited: number
  /** Null where the system did not tell, or not of every slice. */
  cpuSeconds: CpuSeconds
}

/**
 * The slices of each cell, heat by heat.
 * @param keepDisturbed launches that have only disturbed slices have the mean of these, instead of none
 */
export function recordCells(
  cells: readonly CellSpec[],
  heats: readonly Heat[],
  { keepDisturbed = false }: { keepDisturbed?: boolean } = {},
): CellRecord[] {
  const byHeat = new Map(heats.map((heat) => [heat, Map.groupBy(heat.slices, ({ cell }) => cell)]))
  return cells.map((cell) => {
    const slices = heats
      .filter(({ role }) => role === cell.role)
      .map((heat) => byHeat.get(heat)?.get(cell.id) ?? [])
    return {
      cell,
      slices,
      launches: slices.map(
        (own) => totalOf(own.filter(counts)) ?? (keepDisturbed ? totalOf(own.filter(isMeasured)) : null),
      ),
    }
  })
}

/** Warm-up does not count, nor what others disturbed; it was measured again. */
export function counts({ phase, disturbed }: Slice): boolean {
  return phase === 'measure' && !disturbed
}

function isMeasured({ phase }: Slice): boolean {
  return phase === 'measure'
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
    waited: sum(({ requests, meanLatency }) => requests * meanLatency),
    cpuSeconds: { app: cpu('app'), proxy: cpu('proxy'), generator: cpu('generator') },
  }
}

/**
 * The mean of a launch: what its slices add up to, divided. So every request, and every second of load, weighs the same, whatever the
 * length of its slice; the mean of the slices' own figures would give short ones too much weight.
 * @returns answers per second, or CPU seconds of server and proxy per request; null if there were no answers, or the CPU is not known
 */
export function launchMean({ cell }: CellRecord, totals: LaunchTotals | null, metric: Metric): number | null {
  if (totals === null || totals.requests === 0) return null
  const total = metric === 'rate' ? totals.requests / totals.seconds : serverSeconds(cell, totals.cpuSeconds)
  if (total === null || !(total > 0)) return null
  return metric === 'rate' ? total : total / totals.requests
}

/** CPU seconds of server and proxy; null if one that takes part is not known. */
export function serverSeconds(
  { topology }: Pick<CellSpec, 'topology'>,
  { app, proxy }: CpuSeconds,
): number | null {
  if (topology === 'direct') return app
  return app === null || proxy === null ? null : app + proxy
}
