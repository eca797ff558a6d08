import type { LoadResult } from '@startgrid/loadgen'
import type { CpuSeconds, Disturbance } from '@startgrid/machine/accounts/sample.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { occurred } from '../drivers/driver.ts'
import type { Cell } from '../model/cell.ts'
import type { GateResult } from '../model/figures.ts'
import type { PercentilesMs, Trial } from '../model/heat.ts'
import type { OpenLoopResult } from '../model/result.ts'
import { judgeOfferedLoad, keepQuiet } from './gates.ts'

/** What one stretch of load on one launch is to be. */
export interface LoadSpec {
  purpose: Trial['purpose']
  level: string
  /** Requests per second in open loop; absent in closed loop. */
  rate?: number
  durationMs: number
  /** Open at most; default the cell's own number. */
  connections?: number
  timeoutMs?: number
  /** Milliseconds of one window of the series; absent without one. */
  seriesMs?: number
  /** Whether the whole distribution is stored, not only its percentiles. */
  histograms?: boolean
}

/** Where and when a load ran, and what the kernel says of it. */
interface TrialFrame extends Pick<Trial, 'cell' | 'launch' | 'at'> {
  cpuSeconds: CpuSeconds
  disturbance: Disturbance
  disturbed: boolean
}

/** A load as it is stored. */
export function trialOf(load: LoadResult, spec: LoadSpec, frame: TrialFrame): Trial {
  const isOpen = spec.rate !== undefined
  const { 503: refused = 0 } = load.statuses
  return {
    ...frame,
    purpose: spec.purpose,
    level: spec.level,
    seconds: load.seconds,
    offered: load.openLoop?.offered ?? null,
    achieved: load.openLoop?.achieved ?? load.rate,
    meanMs: load.requests > 0 ? load.latency.mean : null,
    requests: load.requests,
    checked: load.checked,
    errors: occurred(load.errors),
    latency: isOpen && load.requests > 0 ? percentilesOf(load.latency) : null,
    service: load.requests > 0 ? percentilesOf(load.service) : null,
    lag: load.lag === null || load.requests === 0 ? null : percentilesOf(load.lag),
    histogram: spec.histograms ? load.histograms.latency : null,
    lagHistogram: spec.histograms ? load.histograms.lag : null,
    series:
      spec.seriesMs === undefined
        ? null
        : load.series.map(({ at, seconds, requests, p99 }) => ({ at, seconds, requests, p99 })),
    generatorBound: load.self.bound,
    ...(refused > 0 && { refused }),
  }
}

function percentilesOf({ p50, p90, p99, p999, max }: LoadResult['latency']): PercentilesMs {
  return { p50, p90, p99, p999, max }
}

/** Neither others nor a late generator are in its figures. Never asks what was measured of the server. */
export function isTimely(trial: Trial): boolean {
  return !trial.disturbed && judgeOfferedLoad({ ...trial, achieved: trial.offered ?? 0 }).verdict !== 'failed'
}

/** Whether others visibly took the machine during most loads of a cell. */
export function isCrowded(trials: readonly Trial[]): boolean {
  return keepQuiet(trials, ({ disturbed }) => !disturbed).crowded
}

/**
 * Why the latencies of an open-loop trial prove nothing about its cell: a clause without the full stop. Whether others used the
 * machine is asked apart (`disturbed`), and never depends on what was measured.
 * @returns null if they are sound
 */
export function whyUnsound(trial: Trial): string | null {
  return whyWrong(trial) ?? failureOf(judgeOfferedLoad(trial))
}

/** Errors that say no more than that something took too long. */
const LATE_KINDS: ReadonlySet<string> = new Set(['timeout', 'connect'])

/** Errors of responses, which `requests` counts as well. */
const WRONG_KINDS: ReadonlySet<string> = new Set(['status', 'body'])

/**
 * One error or one wrong response voids a number. A neighbour makes responses late, but not wrong: of a disturbed trial, what took too
 * long does not count.
 */
export function whyFailed({
  errors,
  requests,
  disturbed,
}: Pick<Trial, 'errors' | 'requests' | 'disturbed'>): string | null {
  const counts = Object.entries(errors).filter(([kind]) => !disturbed || !LATE_KINDS.has(kind))
  if (counts.length === 0) return null
  const sum = (some: typeof counts) => some.reduce((total, [, count]) => total + count, 0)
  const unanswered = sum(counts.filter(([kind]) => !WRONG_KINDS.has(kind)))
  const kinds = counts.map(([kind, count]) => `${count} ${kind}`)
  return `${sum(counts)} of ${requests + unanswered} requests failed (${kinds.join(', ')})`
}

/** Beside that, a load of which nothing was compared proves nothing. */
export function whyWrong(trial: Trial): string | null {
  const failure = whyFailed(trial)
  if (failure !== null || trial.checked > 0) return failure
  return trial.requests === 0 ? 'no request got a response' : 'no response was compared'
}

/**
 * The server's part of the gate `offered`: its responses fell behind, so a queue grew for as long as the load lasted, and latencies only
 * say for how long that was.
 */
export function whyNotKept(trial: Trial): string | null {
  return failureOf(judgeOfferedLoad({ ...trial, generatorBound: false, lag: null }))
}

function failureOf({ verdict, finding }: GateResult): string | null {
  return verdict === 'failed' ? finding : null
}

/** Why a cell has no open-loop figures at all, whatever was measured: a clause without the full stop. @returns null if it may have */
export function whyNotMeasured({ id, skipped }: Cell, { conformance, heats }: OpenLoopResult): string | null {
  if (skipped !== null) return skipped
  const [difference] = conformance.find(({ cell }) => cell === id)?.differences ?? []
  if (difference !== undefined) return `it does not keep the contract: ${difference}`
  const failures = heats.flatMap((heat) => heat.failures)
  return failures.find(({ cell }) => cell === id)?.reason ?? null
}

/** The closed-loop rate over all launches that count, in responses per second; null without one. */
export function closedLoopOf({ id }: Pick<Cell, 'id'>, trials: readonly Trial[]): number | null {
  const own = trials.filter(({ cell, purpose }) => cell === id && purpose === 'capacity')
  const { kept } = keepQuiet(own, ({ disturbed }) => !disturbed)
  return kept.length > 0 ? geometricMean(kept.map(({ achieved }) => achieved)) : null
}

/**
 * The geometric mean of positive values, one per launch, with a 95 % interval: Student's t on their logarithms, because what differs
 * between launches does so by a factor. The ends are null with one value.
 * @throws {RangeError} without values
 */
export function intervalOf(values: readonly number[]): Interval {
  return intervalAround(geometricMean(values), values)
}

/**
 * The same width around an estimate that was made from all launches together, such as a percentile of their merged samples: that is
 * not the mean of the launches' own percentiles, but varies with them.
 */
export function intervalAround(value: number, values: readonly number[]): Interval {
  if (values.length < 2) return { value, low: null, high: null }
  const variance = sampleVariance(values.map(Math.log))
  const factor = Math.exp(tQuantile(0.975, values.length - 1) * Math.sqrt(variance / values.length))
  return { value, low: value / factor, high: value * factor }
}

/** @throws {RangeError} without values */
export function geometricMean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('There is nothing to average.')
  return Math.exp(mean(values.map(Math.log)))
}
