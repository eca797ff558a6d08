import { whyGeneratorBound } from '../engine/generator-bound.ts'
import type { Arrivals, Measurement } from '../engine/measurement.ts'
import { mergeRecordings, type Recording } from '../engine/recorder.ts'
import { encodeRecording, summarise } from './histogram.ts'
import {
  ERROR_KINDS,
  type ErrorCounts,
  type LoadResult,
  noErrors,
  type OpenLoopRates,
  type SelfReport,
} from './result.ts'

/** What one or several generators measured of a load. */
export function summarizeLoad(measured: readonly Measurement[]): LoadResult {
  const requests = sum(measured, (one) => one.requests)
  const seconds = Math.max(...measured.map((one) => one.seconds))
  return {
    requests,
    seconds,
    rate: ratio(requests, seconds),
    errors: sumCounts(measured),
    bytes: sum(measured, ({ bytes }) => bytes),
    checked: sum(measured, ({ checked }) => checked),
    statuses: sumBy(measured.map(({ statuses }) => statuses)),
    handshakes: sumBy(measured.map(({ handshakes }) => handshakes)),
    ...distributions(measured),
    openLoop: ratesOf(measured),
    cpu: { seconds: sum(measured, (one) => one.cpuSeconds) },
    self: worstOf(measured),
  }
}

function distributions(
  measured: readonly Measurement[],
): Pick<LoadResult, 'latency' | 'service' | 'lag' | 'histograms'> {
  const latency = mergeRecordings(measured.map((one) => one.latency))
  const service = mergePresent(measured.map((one) => one.service)) ?? latency
  const lag = mergePresent(measured.map(({ arrivals }) => arrivals?.lag ?? null))
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

function worstOf(measured: readonly Measurement[]): SelfReport {
  const waits = measured.map(({ loop }) => loop.waitSeconds).filter((seconds) => seconds !== null)
  const reasons = measured.map(whyGeneratorBound)
  const at = reasons.findIndex((reason) => reason !== null)
  const reason = reasons[at] ?? null
  return {
    waitSeconds: waits.length === 0 ? null : sum(waits, (seconds) => seconds),
    busy: Math.max(...measured.map(({ loop }) => loop.busy)),
    bound: reason !== null,
    reason: reason === null || measured.length === 1 ? reason : `in generator ${at + 1}, ${reason}`,
  }
}

function ratesOf(measured: readonly Measurement[]): OpenLoopRates | null {
  const all = measured.map(({ arrivals }) => arrivals).filter((arrivals) => arrivals !== null)
  if (all.length === 0) return null
  const perSecond = (count: (arrivals: Arrivals) => number) =>
    sum(all, (arrivals) => ratio(count(arrivals), arrivals.seconds))
  return { offered: perSecond(({ due }) => due), achieved: perSecond(({ sent }) => sent) }
}

function sumCounts(measured: readonly Measurement[]): ErrorCounts {
  const errors = noErrors()
  for (const kind of ERROR_KINDS) errors[kind] = sum(measured, (one) => one.errors[kind])
  return errors
}

function sumBy(counts: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const one of counts)
    for (const [name, count] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
