/**
 * What can go wrong with a request; an answer counts under one kind at most.
 * - `connect`: no connection could be opened
 * - `reset`: the connection ended before the answer did, also when the server closed it without saying so
 * - `timeout`: no whole answer within the time allowed
 * - `status`: another status than expected
 * - `body`: the expected status, but another length or content than expected
 * - `parse`: not HTTP/1.1, or more bytes than the answer announced
 */
export const ERROR_KINDS = ['connect', 'reset', 'timeout', 'status', 'body', 'parse'] as const

export type ErrorKind = (typeof ERROR_KINDS)[number]

export type ErrorCounts = Record<ErrorKind, number>

/** Milliseconds from a request to its answer's last byte. All 0 if nothing was answered. */
export interface Latency {
  mean: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
  min: number
}

/** What one load measured. Plain data: it can be written as JSON. */
export interface LoadResult {
  /** Whole answers to counted requests, whatever their status. */
  requests: number
  /**
   * From the first counted request (or attempt to connect, if none was sent) to the last drained answer, at least to the end
   * of the duration.
   */
  seconds: number
  /** `requests / seconds`. */
  rate: number
  errors: ErrorCounts
  /** Bytes received for counted requests, headers included. */
  bytes: number
  /** Answers whose body was compared. */
  checked: number
  /** Counted answers by status. */
  statuses: Record<string, number>
  latency: Latency
  cpu: {
    /** CPU seconds of this process during the measured stretch, all threads. */
    seconds: number
    /** The same as a part of one core, 0 to 1; near 1 the generator may be the limit. */
    utilisation: number
  }
}

export function noErrors(): ErrorCounts {
  return { connect: 0, reset: 0, timeout: 0, status: 0, body: 0, parse: 0 }
}

export function sumErrors(errors: Readonly<ErrorCounts>): number {
  return ERROR_KINDS.reduce((sum, kind) => sum + errors[kind], 0)
}
