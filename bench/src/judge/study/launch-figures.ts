import type { Topology } from '@startgrid/grid/matrix.ts'
import { mean, median } from '@startgrid/stats/moments.ts'
import type { Figures } from '../../model/study.ts'
import type { StudyCell, StudyHeat, StudyProbe, StudySlice } from '../../model/study-result.ts'
import { isQuiet as counts, serverSeconds } from '../analysis/slices.ts'
import { DISTURBED_ABOVE } from '../gates/interference.ts'

/** What one launch of one system measured. */
export interface LaunchFigures {
  figures: Figures
  /** CPU seconds per request; null where the system does not tell. */
  cpu: { app: number | null; proxy: number | null }
  /** Part of the cores that it had, 0 to 1. */
  coreUse: number | null
  /** Connections per request beside the generator's own. */
  otherConnections: number | null
  /** Parts of the requests that the least and the most busy worker answered; null where nobody counts. */
  workerShares: { least: number; most: number } | null
}

/** How the accounts of a cell are read: an NGINX in front of an app is one part of it. */
export function topologyOf({ proxied }: Pick<StudyCell, 'proxied'>): Topology {
  return proxied ? 'nginx' : 'direct'
}

/** Whether a probe counts; what the system does not tell disturbs nobody. */
export function isQuiet({ foreign }: StudyProbe): boolean {
  return foreign === null || foreign <= DISTURBED_ABOVE
}

/** @returns null if no slice of the heat counts, and no probe measured it */
export function launchFigures(cell: StudyCell, heat: StudyHeat): LaunchFigures | null {
  const probe = heat.probes.find((one) => one.system === cell.system && isQuiet(one))
  if (probe !== undefined)
    return {
      figures: probe.figures,
      cpu: { app: null, proxy: null },
      coreUse: null,
      otherConnections: null,
      workerShares: null,
    }
  const slices = heat.slices.filter((slice) => slice.cell === cell.system && counts(slice))
  const requests = sumOf(slices, (slice) => slice.requests)
  if (requests === null || requests === 0) return null
  const seconds = sumOf(slices, (slice) => slice.seconds) ?? 0
  const topology = topologyOf(cell)
  const server = sumOf(slices, ({ cpuSeconds }) => serverSeconds({ topology }, cpuSeconds))
  const app = sumOf(slices, ({ cpuSeconds }) => cpuSeconds.app)
  const proxy = cell.proxied ? sumOf(slices, ({ cpuSeconds }) => cpuSeconds.proxy) : null
  const opened = sumOf(slices, ({ otherConnections }) => otherConnections)
  return {
    figures: {
      rate: requests / seconds,
      ...(server !== null && server > 0 && { cpu: server / requests }),
      ...latencies(slices, requests),
      ...medianRate(slices),
    },
    cpu: { app: app && app / requests, proxy: proxy && proxy / requests },
    coreUse: server && server / seconds / cell.cores.given,
    otherConnections: opened === null ? null : opened / requests,
    workerShares: sharesOf(heat.spreads.find(({ system }) => system === cell.system)?.requests ?? []),
  }
}

function sharesOf(requests: readonly number[]): LaunchFigures['workerShares'] {
  const total = requests.reduce((sum, one) => sum + one, 0)
  if (total === 0) return null
  return { least: Math.min(...requests) / total, most: Math.max(...requests) / total }
}

/** Of several slices the mean, each request with the same weight. */
function latencies(slices: readonly StudySlice[], requests: number): Figures {
  const weighted = (value: (slice: StudySlice) => number | null) => {
    const sum = sumOf(slices, (slice) => {
      const one = value(slice)
      return one === null ? null : one * slice.requests
    })
    return sum === null ? undefined : sum / requests
  }
  const all = {
    'closed-mean-latency': weighted(({ meanLatency }) => meanLatency),
    'closed-median-latency': weighted(({ latency }) => latency.p50),
    'closed-p97.5-latency': weighted(({ latency }) => latency.p975),
    'closed-p99-latency': weighted(({ latency }) => latency.p99),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function medianRate(slices: readonly StudySlice[]): Figures {
  const rates = slices.flatMap(({ secondRates }) => secondRates)
  return rates.length === 0 ? {} : { 'median-rate': median(rates) }
}

/** Null if it is not known of every slice, or there is none. */
function sumOf(slices: readonly StudySlice[], value: (slice: StudySlice) => number | null): number | null {
  const values = slices.map(value)
  if (values.length === 0 || values.some((one) => one === null)) return null
  return values.reduce<number>((sum, one) => sum + (one ?? 0), 0)
}

/** Of what is known. */
export function meanOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : mean(known)
}
