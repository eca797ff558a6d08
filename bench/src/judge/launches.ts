import { mean } from '@startgrid/stats/moments.ts'
import type { CellFigures } from '../result/figures.ts'
import type { Heat, Slice } from '../result/heat.ts'
import type { Metric } from '../result/metrics.ts'
import type { Cell, Result } from '../result/result.ts'
import { whyVoid } from './gates.ts'
import { type OpenLoops, openLoopsOf } from './latencies.ts'
import { fitHeat, keptSlices, serverSeconds } from './passes.ts'

/** What was measured, and what judges it. */
export type Measured = Pick<
  Result,
  'cells' | 'heats' | 'conformance' | 'pilots' | 'profiles' | 'search' | 'settings' | 'stolen'
>

/** All that was measured of one cell, launch by launch. */
export interface JudgedCell {
  cell: Cell
  /** Those that count, in all launches. */
  slices: number
  /** Per heat of its race, in the order in which they were measured; null where nothing counts. */
  launches: (Launch | null)[]
  /** Null where its latency in open loop was not asked for. */
  openLoops: OpenLoops | null
  /** Why its number may not be used: a clause without the full stop. */
  void: string | null
}

/** What one launch of one cell measured. */
export interface Launch {
  /** Natural logarithms; those of rate and CPU are of a pass of average speed. Without what is not known. */
  logs: Partial<Record<Metric, number>>
  /** CPU seconds per request; null where the system does not tell, or not of every slice. */
  cpu: CellFigures['cpu']
  /** Part of the cores that it had, 0 to 1. */
  coreUse: number | null
  /** Connections per request beside the generator's own. */
  otherConnections: number | null
  /** What its connections over TLS agreed on. */
  handshakes: readonly string[]
}

/**
 * All cells that were tried, by all gates. Passes are fitted without the cells that are void: a number that does not count has no part in another one.
 */
export function judgeCells(measured: Measured): JudgedCell[] {
  const { heats, conformance, settings, stolen } = measured
  const counted = new Map(
    heats.map((heat) => [heat, Map.groupBy(keptSlices(heat).slices, (one) => one.cell)]),
  )
  const tried = measured.cells.filter(({ skipped }) => skipped === null)
  const judged = tried.map((cell) => {
    const isOwn = (one: { cell: string }) => one.cell === cell.id
    const own = heats.filter(({ race }) => race === cell.race)
    const slices = own.map((heat) => counted.get(heat)?.get(cell.id) ?? [])
    const failures = own.flatMap((heat) => heat.failures.filter(isOwn).map(({ reason }) => reason))
    const evidence = {
      cell,
      conformance: conformance.find(isOwn) ?? null,
      slices: own.flatMap((heat) => heat.slices.filter(isOwn)),
      counted: slices.flat(),
      failures,
      stolen,
      cores: settings.cores,
    }
    // A probe has no slices to be judged by.
    const reason = cell.workload === null ? (failures[0] ?? null) : whyVoid(evidence)
    return { cell, own, slices, void: reason }
  })
  const valid = judged.flatMap((one) => (one.void === null ? one.cell : []))
  const fits = new Map(
    heats.map((heat) => {
      const slices = [...(counted.get(heat)?.values() ?? [])].flat()
      return [heat, { rate: fitHeat(valid, slices, 'rate'), cpu: fitHeat(valid, slices, 'cpu') }]
    }),
  )
  return judged.map(({ cell, own, slices, void: reason }) => {
    const openLoops = openLoopsOf(cell, own, settings)
    const launchIn = (heat: Heat, index: number) => {
      const { rate, cpu } = fits.get(heat) ?? {}
      const fitted = { rate: rate?.get(cell.id), cpu: cpu?.get(cell.id) }
      return launchOf(cell, heat, slices[index] ?? [], { ...fitted, ...logsOf(openLoops?.launches[index]) })
    }
    return {
      cell,
      openLoops,
      void: reason,
      slices: slices.flat().length,
      launches: cell.workload === null ? probesOf(cell, own) : own.map(launchIn),
    }
  })
}

function launchOf(
  cell: Cell,
  heat: Heat,
  slices: readonly Slice[],
  logs: { [Name in Metric]?: number | undefined },
): Launch | null {
  const sum = (value: (slice: Slice) => number | null): number | null => {
    const values = slices.map(value)
    return values.includes(null) ? null : values.reduce<number>((total, one) => total + (one ?? 0), 0)
  }
  const requests = sum((slice) => slice.requests) ?? 0
  if (requests === 0) return null
  const seconds = sum((slice) => slice.seconds) ?? 0
  const cpuSeconds = {
    app: sum((slice) => slice.cpuSeconds.app),
    proxy: sum((slice) => slice.cpuSeconds.proxy),
  }
  const { app, proxy } = cpuSeconds
  const used = serverSeconds(cell, cpuSeconds)
  const opened = sum(({ detail }) => detail?.otherConnections ?? null)
  // Of a command.
  const { startup, readyMemory, peakMemory } = heat.launches.find((one) => one.app === cell.app) ?? {}
  return {
    logs: {
      ...known(logs),
      ...logsOf({
        bytes: meanOf(slices.map(({ detail }) => detail?.bytes)),
        startup,
        'ready-memory': readyMemory,
        'peak-memory': readyMemory === undefined ? null : peakMemory,
      }),
    },
    cpu: {
      app: app && app / requests,
      proxy: cell.topology === 'direct' ? null : proxy && proxy / requests,
    },
    coreUse: used && used / seconds / cell.cores.given,
    otherConnections: opened === null ? null : opened / requests,
    handshakes: slices.flatMap(({ detail }) => detail?.handshakes ?? []),
  }
}

/** Of a system that a probe measured. */
function probesOf({ id }: Cell, heats: readonly Heat[]): (Launch | null)[] {
  const nothing = { coreUse: null, otherConnections: null, handshakes: [], cpu: { app: null, proxy: null } }
  return heats.map(({ probes }) => {
    const probe = probes.find(({ cell }) => cell === id)
    return probe === undefined ? null : { logs: logsOf(probe.figures), ...nothing }
  })
}

function logsOf(figures: { [Name in Metric]?: number | null | undefined } = {}): Launch['logs'] {
  const logs = Object.entries(figures).map(([name, value]) => [name, Math.log(value ?? 0)])
  return known(Object.fromEntries(logs))
}

/** Without what was not measured. */
function known(logs: { [Name in Metric]?: number | null | undefined }): Launch['logs'] {
  return Object.fromEntries(Object.entries(logs).filter(([, log]) => Number.isFinite(log)))
}

/** Of what is known. */
export function meanOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : mean(known)
}
