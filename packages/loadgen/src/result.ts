import { formatPercent } from '@startgrid/cli/numbers.ts'
import { encodeRecording, type Latency, mergeRecordings, type Recording, summarise } from './recording.ts'

/**
 * What can go wrong with a request; a response counts under one kind at most.
 * - `connect`: no connection could be opened
 * - `reset`: the connection ended before the response did, also when the server closed it without saying so
 * - `timeout`: no complete response within the time allowed
 * - `status`: another status than expected
 * - `body`: the expected status, but another length or content than expected
 * - `parse`: not HTTP/1.1, or more bytes than the response announced
 */
export type ErrorKind = 'connect' | 'reset' | 'timeout' | 'status' | 'body' | 'parse'

export type ErrorCounts = Record<ErrorKind, number>

export function noErrors(): ErrorCounts {
  return { connect: 0, reset: 0, timeout: 0, status: 0, body: 0, parse: 0 }
}

/** What is counted of a load. */
export interface Counts {
  /** Complete responses to counted requests, whatever their status. */
  requests: number
  /**
   * From the due time of the first counted request (or the beginning of the load, if none was sent) to the last response, and at least to the
   * end of the load.
   */
  seconds: number
  errors: ErrorCounts
  /** Bytes received for counted requests, headers included. */
  bytes: number
  /** Responses whose body was compared. */
  checked: number
  /** Counted responses by status. */
  statuses: Record<string, number>
  /**
   * Connections over TLS, those of the warm-up included, by what was agreed on: protocol, cipher, group of the key exchange,
   * ALPN. Empty without TLS.
   */
  handshakes: Record<string, number>
}

/** What one generator measured, as plain data that can be sent to another process. */
export interface Measurement extends Counts {
  /** Measured from the time when the request was due. */
  latency: Recording
  arrivals: Arrivals | null
  loop: LoopReport
}

/** How an open loop kept to its schedule. */
export interface Arrivals {
  /** Seconds in which requests were due. */
  seconds: number
  /** Requests that were due in that time. */
  due: number
  /** How many of these were sent in that time. */
  sent: number
  /** How many of these the polling loop handled only after that time. */
  late: number
  /** How late the polling loop handled each request. */
  lag: Recording
  /** Measured from the send. In closed loop, that is the same as `latency`. */
  service: Recording
}

/** What the event loop did while it offered load. */
export interface LoopReport {
  /** Seconds for which it was ready to run, but had no core; null where the system does not tell (not Linux). */
  waitSeconds: number | null
  /** Part of the time, 0 to 1, spent in turns of the loop that sent or received something, not in polling in vain. */
  busy: number
}

/** What one load measured. Plain data: it can be written as JSON. */
export interface LoadResult extends Counts {
  /** `requests / seconds`. */
  rate: number
  /** To the response's last byte: in closed loop from the send, in open loop from when it was due (corrected). */
  latency: Latency
  /** From the send to the response's last byte. With a connection per request: from the attempt to connect. */
  service: Latency
  /** Open loop: how late the polling loop handled requests, caused by the generator itself. Null in closed loop. */
  lag: Latency | null
  /** HdrHistogram V2, compressed, base64; values in nanoseconds. */
  histograms: { latency: string; lag: string | null }
  /** Requests per second; null in closed loop. */
  openLoop: {
    /** Due by the schedule. In a Poisson process it differs from the rate by about √n. */
    offered: number
    /** Sent in the time in which they were due, the warm-up and the wait for the last responses aside. */
    achieved: number
  } | null
  /** The generator's own condition. Of several: the worst, so that a slow one does not hide in the sum, and the sum of the waits. */
  self: LoopReport & {
    /** Open loops only: it could not offer the requested load. */
    bound: boolean
    /** Why, as a clause without the full stop. */
    reason: string | null
  }
}

/** What one or several generators measured of a load. */
export function summarizeLoad(measured: readonly Measurement[]): LoadResult {
  const requests = sum(measured, (one) => one.requests)
  const seconds = Math.max(...measured.map((one) => one.seconds))
  const arrivals = measured.flatMap((one) => one.arrivals ?? [])
  const isOpen = arrivals.length > 0
  const offered = sum(arrivals, ({ due, seconds }) => due / seconds || 0)
  const achieved = sum(arrivals, ({ sent, seconds }) => sent / seconds || 0)
  const latency = mergeRecordings(measured.map((one) => one.latency))
  const service = isOpen ? mergeRecordings(arrivals.map((one) => one.service)) : latency
  const lag = isOpen ? mergeRecordings(arrivals.map((one) => one.lag)) : null
  const waits = measured.flatMap(({ loop }) => loop.waitSeconds ?? [])
  const [reason = null] = measured.flatMap((one) => whyGeneratorBound(one) ?? [])
  return {
    requests,
    seconds,
    rate: requests / seconds || 0,
    errors: sumBy(measured.map((one) => one.errors)),
    bytes: sum(measured, (one) => one.bytes),
    checked: sum(measured, (one) => one.checked),
    statuses: sumBy(measured.map((one) => one.statuses)),
    handshakes: sumBy(measured.map((one) => one.handshakes)),
    latency: summarise(latency),
    service: summarise(service),
    lag: lag && summarise(lag),
    histograms: { latency: encodeRecording(latency), lag: lag && encodeRecording(lag) },
    openLoop: isOpen ? { offered, achieved } : null,
    self: {
      waitSeconds: waits.length === 0 ? null : sum(waits, (seconds) => seconds),
      busy: Math.max(...measured.map(({ loop }) => loop.busy)),
      bound: reason !== null,
      reason,
    },
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
    return `it came to ${formatPercent(late / due)} of the requests only after the time in which they were due`
  if (sent < OFFERED * due && busy >= BUSY)
    return `it sent only ${formatPercent(sent / due)} of the requests in time and was busy for ${formatPercent(busy)} of it`
  const lagMs = summarise(lag).p99
  if (lagMs <= HARMLESS_LAG_MS || lagMs <= LAG_PART * latencyMs) return null
  return `it was late by ${lagMs.toPrecision(3)} ms at p99, where the latency is ${latencyMs.toPrecision(3)} ms`
}

function sumBy<Name extends string>(counts: readonly Record<Name, number>[]): Record<Name, number> {
  const sums = {} as Record<Name, number>
  for (const one of counts) for (const name in one) sums[name] = (sums[name] ?? 0) + one[name]
  return sums
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
