import { whyGeneratorBound } from '../engine/generator-bound.ts'
import type { Arrivals, Measurement } from '../engine/measurement.ts'
import { mergeRecordings, type Recording } from '../engine/recorder.ts'
import type { Interval } from '../engine/series.ts'
import { encodeRecording, summarise } from './histogram.ts'
import {
  ERROR_KINDS,
  type ErrorCounts,
  type LoadResult,
  noErrors,
  type OpenLoopRates,
  type SelfReport,
  type SeriesPoint,
  type ThreadReport,
} from './result.ts'

/**
 * What all threads of one load measured.
 * @param processes the threads of each process
 * @param seriesMs length of an interval; undefined without a series
 * @param nameOf what the n-th thread is called, counted from 0 over all processes
 */
export function summarizeLoad(
  processes: readonly (readonly Measurement[])[],
  seriesMs: number | undefined,
  nameOf?: (n: number) => string,
): LoadResult {
  const threads = processes.flat()
  const requests = sum(threads, (thread) => thread.requests)
  const seconds = Math.max(...threads.map((thread) => thread.seconds))
  // Each thread measured its whole process.
  const cpuSeconds = sum(processes, (own) => Math.max(...own.map(({ processSeconds }) => processSeconds)))
  const reports = threads.map(reportThread)
  return {
    requests,
    seconds,
    rate: ratio(requests, seconds),
    errors: sumCounts(threads),
    bytes: sum(threads, ({ bytes }) => bytes),
    checked: sum(threads, ({ checked }) => checked),
    statuses: sumStatuses(threads),
    ...distributions(threads),
    openLoop: ratesOf(threads),
    series: seriesOf(threads, seriesMs ?? 0, seconds),
    cpu: { seconds: cpuSeconds, utilisation: Math.min(1, ratio(cpuSeconds, seconds * threads.length)) },
    self: worstOf(reports, nameOf ?? ((n) => `thread ${n + 1} of ${threads.length}`)),
    threads: reports,
  }
}

function distributions(
  threads: readonly Measurement[],
): Pick<LoadResult, 'latency' | 'service' | 'lag' | 'histograms'> {
  const latency = mergeRecordings(threads.map((thread) => thread.latency))
  const service = mergePresent(threads.map((thread) => thread.service)) ?? latency
  const lag = mergePresent(threads.map(({ arrivals }) => arrivals?.lag ?? null))
  return {
    latency: summarise(latency),
    service: summarise(service),
    lag: lag && summarise(lag),
    histograms: {
      latency: encodeRecording(latency),
      service: encodeRecording(service),
      lag: lag && encodeRecording(lag),
    },
  }
}

function mergePresent(recordings: readonly (Recording | null)[]): Recording | null {
  const present = recordings.filter((recording) => recording !== null)
  return present.length === 0 ? null : mergeRecordings(present)
}

function reportThread(thread: Measurement): ThreadReport {
  const { requests, seconds, threadSeconds, arrivals, loop } = thread
  const reason = whyGeneratorBound(thread)
  return {
    requests,
    rate: ratio(requests, seconds),
    cpuSeconds: threadSeconds,
    openLoop: ratesOf([thread]),
    lagP99: arrivals && summarise(arrivals.lag).p99,
    waitSeconds: loop.waitSeconds,
    loopDelayP99: summarise(loop.turns).p99,
    busy: loop.busy,
    bound: reason !== null,
    reason,
  }
}

function worstOf(threads: readonly ThreadReport[], nameOf: (n: number) => string): SelfReport {
  const waits = threads.map(({ waitSeconds }) => waitSeconds).filter((seconds) => seconds !== null)
  const at = threads.findIndex(({ bound }) => bound)
  const reason = threads[at]?.reason ?? null
  return {
    waitSeconds: waits.length === 0 ? null : sum(waits, (seconds) => seconds),
    loopDelayP99: Math.max(...threads.map(({ loopDelayP99 }) => loopDelayP99)),
    busy: Math.max(...threads.map(({ busy }) => busy)),
    bound: reason !== null,
    reason: reason === null || threads.length === 1 ? reason : `in ${nameOf(at)}, ${reason}`,
  }
}

function ratesOf(threads: readonly Measurement[]): OpenLoopRates | null {
  const all = threads.map(({ arrivals }) => arrivals).filter((arrivals) => arrivals !== null)
  if (all.length === 0) return null
  const perSecond = (count: (arrivals: Arrivals) => number) =>
    sum(all, (arrivals) => ratio(count(arrivals), arrivals.seconds))
  return { offered: perSecond(({ due }) => due), achieved: perSecond(({ sent }) => sent) }
}

function seriesOf(threads: readonly Measurement[], seriesMs: number, seconds: number): SeriesPoint[] {
  const all = threads.flatMap(({ intervals }) => intervals ?? [])
  const last = Math.max(-1, ...all.map(({ index }) => index))
  return Array.from({ length: last + 1 }, (_, index) => {
    const at = (index * seriesMs) / 1000
    const length = Math.min(seriesMs / 1000, Math.max(0, seconds - at))
    return pointOf(
      all.filter((interval) => interval.index === index),
      at,
      length,
    )
  })
}

function pointOf(intervals: readonly Interval[], at: number, seconds: number): SeriesPoint {
  const latency = mergeRecordings(intervals.map((interval) => interval.latency))
  const { p50, p99, max } = summarise(latency)
  const errors = sum(intervals, (interval) => interval.errors)
  return { at, seconds, requests: latency.count, errors, p50, p99, max }
}

function sumCounts(threads: readonly Measurement[]): ErrorCounts {
  const errors = noErrors()
  for (const kind of ERROR_KINDS) errors[kind] = sum(threads, (thread) => thread.errors[kind])
  return errors
}

function sumStatuses(threads: readonly Measurement[]): Record<string, number> {
  const statuses: Record<string, number> = {}
  for (const thread of threads)
    for (const [status, count] of Object.entries(thread.statuses))
      statuses[status] = (statuses[status] ?? 0) + count
  return statuses
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
