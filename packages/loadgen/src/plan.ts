import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Expectation } from './expectation.ts'

/** A load that cannot be run as asked; the message is a whole sentence for the person who asked for it. */
export class LoadError extends ForeseenError {
  override name = 'LoadError'
}

/** One load as plain data: the same in this process and in another. */
export interface LoadPlan {
  /** On this machine, or on a private network. */
  target: Target
  /**
   * Path and query as in the request line. If there are several, one is drawn at random for each request. Parts in braces are random:
   * `{int:1-1000}` is a whole number in that range, drawn anew for each request, uniformly.
   */
  path: string | readonly string[]
  /** Default `GET`. */
  method?: string
  /** Sent with every request; a `host` header replaces the target's. */
  headers?: Record<string, string>
  /** Sent with every request, in UTF-8; `content-length` is added. */
  body?: string
  /** In closed loop, each has one request in flight all the time. In open loop, requests wait while all connections are busy. */
  connections: number
  /** A connection for each request, which asks the server to close it. */
  newConnections?: boolean
  /** Open loop: requests per second over all connections, up to 10 million, due at random times. Absent: closed loop. */
  rate?: number
  /** Seed of arrivals and random parts of paths: a whole number below 2^32, default 1. */
  seed?: number
  /** Milliseconds during which counted requests are due. */
  durationMs: number
  /** Milliseconds of load before the counted part; default 0. */
  warmupMs?: number
  /**
   * Milliseconds allowed for connecting and for a response, accurate to a tenth; default 5000. In open loop it starts when the
   * request was due.
   */
  timeoutMs?: number
  expect?: Expectation
}

export interface LoadOptions extends LoadPlan {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal
  /**
   * Called when all connections are open, before the first request, and when the last response is there, before they close. The load waits
   * until it resolves, so that accounts can be read in between.
   */
  onPhase?: (phase: LoadPhase) => Promise<void>
}

/** Moments at which a load waits until the accounts have been read. */
export type LoadPhase = 'open' | 'responded'
