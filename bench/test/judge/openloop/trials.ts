import { build } from 'hdr-histogram-js'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js/dist/encoding.js'
import { newCell } from '../../../src/experiment/cells.ts'
import { newHeat } from '../../../src/measure/heat.ts'
import type { Cell } from '../../../src/model/cell.ts'
import type { Trial } from '../../../src/model/heat.ts'
import type { OpenLoopResult } from '../../../src/model/result.ts'
import { golden } from '../../fixtures/golden.ts'

/** Cells, trials and results as tests of open-loop figures need them. */

export function cellOf(app: string, more: Partial<Cell> = {}): Cell {
  const [framework = '', role] = app.split('/')
  return newCell({
    id: `${app} direct`,
    app,
    title: framework,
    race: app,
    role: role === 'ssr' || role === 'status' ? role : 'hello',
    workload: 'GET /json',
    connections: 64,
    warmupMs: 1250,
    ...more,
  })
}

export const CELL = cellOf('node/hello')

/** A sound open-loop trial at 1,000 requests per second. */
export function trialOf(more: Partial<Trial> = {}): Trial {
  const percentiles = { p50: 1, p90: 2, p99: 10, p999: 20, max: 30 }
  return {
    cell: CELL.id,
    launch: 1,
    purpose: 'level',
    level: '50 %',
    at: 0,
    seconds: 10,
    offered: 1000,
    achieved: 1000,
    meanMs: 1,
    requests: 10_000,
    checked: 100,
    errors: {},
    cpuSeconds: { app: 1, proxy: 0, generator: 1 },
    disturbance: { serverWait: 0, generatorWait: 0, serverForeign: 0, generatorForeign: 0 },
    disturbed: false,
    latency: percentiles,
    service: percentiles,
    lag: { p50: 0, p90: 0.01, p99: 0.02, p999: 0.03, max: 0.04 },
    histogram: null,
    lagHistogram: null,
    generatorBound: false,
    series: null,
    ...more,
  }
}

interface Failure {
  cell: string
  launch: number
  reason: string
}

/** Only what figures of open-loop trials read. */
export function resultOf<Kind extends OpenLoopResult['kind']>(
  kind: Kind,
  trials: readonly Trial[],
  more: { cells?: Cell[]; p99Ms?: number; failures?: Failure[]; launches?: number } = {},
): Extract<OpenLoopResult, { kind: Kind }> {
  const frame = golden(kind)
  const result = {
    ...frame,
    settings: { ...frame.settings, heats: more.launches ?? 3, p99Ms: more.p99Ms ?? null },
    cells: more.cells ?? [CELL],
    conformance: [],
    heats: [
      { ...newHeat({ race: CELL.id, heat: 1 }), trials: [...trials] },
      ...(more.failures ?? []).map(({ launch, ...failure }) => ({
        ...newHeat({ race: failure.cell, heat: launch }),
        failures: [failure],
      })),
    ],
    analysis: null,
  }
  return result as unknown as Extract<OpenLoopResult, { kind: Kind }>
}

/** Encoded as the generator does it: a histogram of these values in milliseconds. */
export function histogramOf(milliseconds: Iterable<number>): string {
  const histogram = build({
    highestTrackableValue: 60e9,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 64,
  })
  for (const one of milliseconds) histogram.recordValue(Math.round(one * 1e6))
  return encodeIntoCompressedBase64(histogram)
}

/** Evenly spread over (0, max], in milliseconds: the p-th percentile is p % of `max`. */
export function uniform(count: number, max: number): number[] {
  return Array.from({ length: count }, (_, index) => ((index + 1) / count) * max)
}
