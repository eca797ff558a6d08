import { mean, median } from '@startgrid/stats/moments.ts'
import type { Cell } from '../../model/cell.ts'
import type { Figures } from '../../model/experiment.ts'
import type { Heat, Probe, Slice, SliceDetail } from '../../model/heat.ts'
import type { CellRecord } from '../analysis/record.ts'
import { serverSeconds } from '../analysis/slices.ts'
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
    const [rate, cpu] = [logs.rate[index] ?? null, logs.cpu[index] ?? null]
    const { app, proxy } = cpuSeconds
    const used = serverSeconds(cell, cpuSeconds)
    const opened = sumOf(slices, ({ detail }) => detail?.otherConnections ?? null)
    return {
      figures: {
        ...(rate !== null && { rate: Math.exp(rate) }),
        ...(cpu !== null && { cpu: Math.exp(cpu) }),
        ...latencies(slices, requests),
        ...medianRate(slices),
        ...bytesOf(slices),
        ...startOf(own[index], cell),
      },
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

/** Of a command. */
function startOf(heat: Heat | undefined, { app }: Cell): Figures {
  const { startup, readyMemory, peakMemory } = heat?.launches.find((one) => one.app === app) ?? {}
  return {
    ...(startup !== undefined && { startup }),
    ...(readyMemory !== undefined && {
      'ready-memory': readyMemory,
      ...(peakMemory && { 'peak-memory': peakMemory }),
    }),
  }
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

/** Of several slices the mean, each request with the same weight. */
function latencies(slices: readonly Slice[], requests: number): Figures {
  const weighted = (value: (slice: Slice) => number | null) => {
    const sum = sumOf(slices, (slice) => {
      const one = value(slice)
      return one === null ? null : one * slice.requests
    })
    return sum === null ? undefined : sum / requests
  }
  const percentile = (name: keyof SliceDetail['latency']) =>
    weighted(({ detail }) => detail?.latency[name] ?? null)
  const all = {
    'closed-mean-latency': weighted(({ meanLatency }) => meanLatency),
    'closed-median-latency': percentile('p50'),
    'closed-p97.5-latency': percentile('p975'),
    'closed-p99-latency': percentile('p99'),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function medianRate(slices: readonly Slice[]): Figures {
  const rates = slices.flatMap(({ detail }) => detail?.secondRates ?? [])
  return rates.length === 0 ? {} : { 'median-rate': median(rates) }
}

function bytesOf(slices: readonly Slice[]): Figures {
  const bytes = slices.flatMap(({ detail }) => detail?.bytes ?? [])
  return bytes.length === 0 ? {} : { bytes: mean(bytes) }
}

/** Null if it is not known of every slice, or there is none. */
function sumOf(slices: readonly Slice[], value: (slice: Slice) => number | null): number | null {
  const values = slices.map(value)
  if (values.length === 0 || values.some((one) => one === null)) return null
  return values.reduce<number>((sum, one) => sum + (one ?? 0), 0)
}

/** Of what is known. */
export function meanOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : mean(known)
}
