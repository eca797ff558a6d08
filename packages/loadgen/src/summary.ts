import { encodeRecording, mergeRecordings, summarise } from './recording.ts'
import { ERROR_KINDS, type LoadResult, noErrors } from './result.ts'
import type { Arrivals, Measurement } from './tally.ts'

/** What one or several generators measured of a load. */
export function summarizeLoad(measured: readonly Measurement[]): LoadResult {
  const requests = sum(measured, (one) => one.requests)
  const seconds = Math.max(...measured.map((one) => one.seconds))
  const errors = noErrors()
  for (const kind of ERROR_KINDS) errors[kind] = sum(measured, (one) => one.errors[kind])
  const arrivals = measured.flatMap((one) => one.arrivals ?? [])
  const isOpen = arrivals.length > 0
  const latency = mergeRecordings(measured.map((one) => one.latency))
  const service = isOpen ? mergeRecordings(arrivals.map((one) => one.service)) : latency
  const lag = isOpen ? mergeRecordings(arrivals.map((one) => one.lag)) : null
  return {
    requests,
    seconds,
    rate: ratio(requests, seconds),
    errors,
    bytes: sum(measured, (one) => one.bytes),
    checked: sum(measured, (one) => one.checked),
    statuses: sumBy(measured.map((one) => one.statuses)),
    handshakes: sumBy(measured.map((one) => one.handshakes)),
    latency: summarise(latency),
    service: summarise(service),
    lag: lag && summarise(lag),
    histograms: {
      latency: encodeRecording(latency),
      service: encodeRecording(service),
      lag: lag && encodeRecording(lag),
    },
    openLoop: isOpen
      ? {
          offered: sum(arrivals, ({ due, seconds }) => ratio(due, seconds)),
          achieved: sum(arrivals, ({ sent, seconds }) => ratio(sent, seconds)),
        }
      : null,
    self: worstOf(measured),
  }
}

function worstOf(measured: readonly Measurement[]): LoadResult['self'] {
  const waits = measured.flatMap(({ loop }) => loop.waitSeconds ?? [])
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

/** If less than this part of the due requests was sent in time, the load was not offered. */
const OFFERED = 0.99
/** A generator that is busy for more than this part of its time is at its limit. */
const BUSY = 0.98
/** Schedule lag at p99 in milliseconds that never matters. */
const HARMLESS_LAG_MS = 1
/** A higher lag may be at most this part of the latency at p99. */
const LAG_PART = 0.1
/** Waiting for a core for more than this part of the time is a likely cause. */
const WAITED = 0.01

/**
 * Whether an open-loop load measured the generator instead of the server.
 * @returns why, as a clause without the full stop; null if the load was offered as asked, or if requests had to wait for the
 * server to free a connection
 */
function whyGeneratorBound({ arrivals, latency, loop, seconds }: Measurement): string | null {
  const why = arrivals && symptom(arrivals, loop.busy, summarise(latency).p99)
  const { waitSeconds } = loop
  if (why === null || waitSeconds === null || waitSeconds < WAITED * seconds) return why
  return `${why}; it waited ${waitSeconds.toFixed(2)} s for a core that others used`
}

function symptom({ due, sent, late, lag }: Arrivals, busy: number, latencyMs: number): string | null {
  if (late > (1 - OFFERED) * due)
    return `it came to ${percent(late / due)} of the requests only after the time in which they were due`
  if (sent < OFFERED * due && busy >= BUSY)
    return `it sent only ${percent(sent / due)} of the requests in time and was busy for ${percent(busy)} of it`
  const lagMs = summarise(lag).p99
  if (lagMs <= HARMLESS_LAG_MS || lagMs <= LAG_PART * latencyMs) return null
  return `it was late by ${lagMs.toPrecision(3)} ms at p99, where the latency is ${latencyMs.toPrecision(3)} ms`
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`
}

function sumBy(counts: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((one) => Object.entries(one)))
    sums[name] = (sums[name] ?? 0) + count
  return sums
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
