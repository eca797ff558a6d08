import type { LoadResult } from '@startgrid/loadgen/result.ts'
import { occurred } from '../load/generator.ts'
import type { PercentilesMs, Trial } from '../result/heat.ts'
import { keepQuiet } from './disturbance.ts'
import { whyNotOffered } from './gates.ts'

/** Where and when a load ran, and what the kernel says of it. */
type TrialFrame = Pick<Trial, 'cell' | 'at' | 'cpuSeconds' | 'disturbance' | 'disturbed'>

/** An open loop as it is stored. */
export function trialOf(load: LoadResult, frame: TrialFrame): Trial {
  return {
    ...frame,
    seconds: load.seconds,
    offered: load.openLoop?.offered ?? 0,
    achieved: load.openLoop?.achieved ?? load.rate,
    meanMs: load.requests > 0 ? load.latency.mean : null,
    ...(load.requests > 0 && { longest: load.latency.max / 1000 }),
    requests: load.requests,
    checked: load.checked,
    errors: occurred(load.errors),
    lag: load.lag === null || load.requests === 0 ? null : percentilesOf(load.lag),
    histogram: load.histograms.latency,
    lagHistogram: load.histograms.lag,
    generatorBound: load.self.bound,
  }
}

function percentilesOf({ p50, p90, p99, p999, max }: LoadResult['latency']): PercentilesMs {
  return { p50, p90, p99, p999, max }
}

/** Neither others nor a late generator are in its figures. Never asks what was measured of the server. */
export function isTimely(trial: Trial): boolean {
  return !trial.disturbed && whyNotOffered({ ...trial, achieved: trial.offered }) === null
}

/** Whether others visibly took the machine during most loads of a cell. */
export function isCrowded(trials: readonly Trial[]): boolean {
  return keepQuiet(trials, ({ disturbed }) => !disturbed).crowded
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
 * The server's part of `whyNotOffered`: its responses fell behind, so a queue grew for as long as the load lasted, and latencies only
 * say for how long that was.
 */
export function whyNotKept(trial: Trial): string | null {
  return whyNotOffered({ ...trial, generatorBound: false, lag: null })
}
