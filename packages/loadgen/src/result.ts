import type { Latency } from './recording.ts'

/**
 * What can go wrong with a request; a response counts under one kind at most.
 * - `connect`: no connection could be opened
 * - `reset`: the connection ended before the response did, also when the server closed it without saying so
 * - `timeout`: no complete response within the time allowed
 * - `status`: another status than expected
 * - `body`: the expected status, but another length or content than expected
 * - `parse`: not HTTP/1.1, or more bytes than the response announced
 */
export const ERROR_KINDS = ['connect', 'reset', 'timeout', 'status', 'body', 'parse'] as const

export type ErrorKind = (typeof ERROR_KINDS)[number]

export type ErrorCounts = Record<ErrorKind, number>

export function noErrors(): ErrorCounts {
  return { connect: 0, reset: 0, timeout: 0, status: 0, body: 0, parse: 0 }
}

export function sumErrors(errors: Readonly<ErrorCounts>): number {
  return ERROR_KINDS.reduce((sum, kind) => sum + errors[kind], 0)
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
   * Connections over TLS, those of the warm-up included, by what was agreed on: protocol, cipher, group of the key exchange, ALPN, and whether the
   * handshake was full or resumed a session. Empty without TLS.
   */
  handshakes: Record<string, number>
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
  histograms: { latency: string; service: string; lag: string | null }
  /** Requests per second; null in closed loop. */
  openLoop: {
    /** Due by the schedule. In a Poisson process it differs from the rate by about √n. */
    offered: number
    /** Sent in the time in which they were due, the warm-up and the wait for the last responses aside. */
    achieved: number
  } | null
  /** The generator's own condition. Of several: the worst, so that a slow one does not hide in the sum. */
  self: {
    /** Seconds for which it was ready to run, but had no core, summed over generators; null where the system does not tell (not Linux). */
    waitSeconds: number | null
    /** Part of the time, 0 to 1, spent in turns of the loop that sent or received something, not in polling in vain. */
    busy: number
    /** Open loops only: it could not offer the requested load. */
    bound: boolean
    /** Why, as a clause without the full stop. */
    reason: string | null
  }
}
