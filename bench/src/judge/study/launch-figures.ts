import type { Cell } from '../../model/cell.ts'
import type { Figures, Metric } from '../../model/experiment.ts'
import type { Heat, Probe, Slice } from '../../model/heat.ts'
import type { CellRecord } from '../analysis/record.ts'
import { meanOf, serverSeconds } from '../analysis/slices.ts'
import { isTakenPart, keepQuiet } from '../gates.ts'

/** What one launch of one system measured. */
export interface LaunchFigures {
  figures: Figures
  /** CPU seconds per request; null where the system does not tell. */
  cpu: { app: number | null; proxy: number | null }
  /** Part of the cores that it had, 0 to 1. */
  coreUse: number | null
  /** Connections per request beside the generator's own. */
  otherConnections: number | null
  /** What its connections over TLS agreed on. */
  handshakes: readonly string[]
  /** Parts of the requests that the least and the most busy worker served; null where nobody counts. */
  workerShares: { least: number; most: number } | null
}

/** Of a system under load, per heat of its race; null where nothing counts. */
export function loadFigures(record: CellRecord, heats: readonly Heat[]): (LaunchFigures | null)[] {
  const { cell, launches, logs, counted } = record
  const own = heats.filter(({ race }) => race === cell.race)
  return launches.map((totals, index) => {
    const slices = counted[index] ?? []
    if (totals === null || totals.requests === 0) return null
    const { requests, seconds, cpuSeconds } = totals
    const { app, proxy } = cpuSeconds
    const used = serverSeconds(cell, cpuSeconds)
    const opened = sumOf(slices, ({ detail }) => detail?.otherConnections ?? null)
    const exponential = (log: number | null | undefined) => (log == null ? null : Math.exp(log))
    // Of a command.
    const { startup, readyMemory, peakMemory } =
      own[index]?.launches.find((one) => one.app === cell.app) ?? {}
    return {
      figures: known({
        rate: exponential(logs.rate[index]),
        cpu: exponential(logs.cpu[index]),
        bytes: meanOf(slices.map(({ detail }) => detail?.bytes)),
        startup,
        'ready-memory': readyMemory,
        'peak-memory': readyMemory === undefined ? null : peakMemory || null,
      }),
      cpu: {
        app: app && app / requests,
        proxy: cell.topology === 'direct' ? null : proxy && proxy / requests,
      },
      coreUse: used && used / seconds / cell.cores.given,
      otherConnections: opened === null ? null : opened / requests,
      handshakes: slices.flatMap(({ detail }) => detail?.handshakes ?? []),
      workerShares: sharesOf(own[index]?.spreads?.find((one) => one.cell === cell.id)?.requests ?? []),
    }
  })
}

/** Without what was not measured. */
function known(figures: { [Name in Metric]?: number | null | undefined }): Figures {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value != null))
}

/** Of a system that a probe measured. Those that others visibly disturbed are left out, unless under half would remain. */
export function probeFigures({ id, race }: Cell, heats: readonly Heat[]): (LaunchFigures | null)[] {
  const own = heats.filter((heat) => heat.race === race)
  const probes = own.map((heat) => heat.probes.find(({ cell }) => cell === id))
  const { kept } = keepQuiet(
    probes.filter((probe) => probe !== undefined),
    isQuiet,
  )
  return probes.map((probe) =>
    probe !== undefined && kept.includes(probe)
      ? {
          figures: probe.figures,
          cpu: { app: null, proxy: null },
          ...{ coreUse: null, otherConnections: null, handshakes: [], workerShares: null },
        }
      : null,
  )
}

/** Whether nobody visibly disturbed a probe; what the system does not tell disturbs nobody. */
export function isQuiet({ foreign }: Probe): boolean {
  return foreign === null || !isTakenPart(foreign)
}

function sharesOf(requests: readonly number[]): LaunchFigures['workerShares'] {
  const total = requests.reduce((sum, one) => sum + one, 0)
  if (total === 0) return null
  return { least: Math.min(...requests) / total, most: Math.max(...requests) / total }
}

/** Null if it is not known of every slice, or there is none. */
function sumOf(slices: readonly Slice[], value: (slice: Slice) => number | null): number | null {
  const values = slices.map(value)
  if (values.length === 0 || values.some((one) => one === null)) return null
  return values.reduce<number>((sum, one) => sum + (one ?? 0), 0)
}
