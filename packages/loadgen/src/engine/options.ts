import type { Target } from '@startgrid/wire/target.ts'
import { Checker, type Expectation } from '../http/expectation.ts'
import { LoadError } from './load-error.ts'
import { Requests } from './requests.ts'

/** One load as plain data: the same in this process and in another. */
export interface LoadPlan {
  /** On this machine, or on a private network. */
  target: Target
  /**
   * Path and query as in the request line. If there are several, one is drawn at random for each request. Each may have random
   * parts: see `PathTemplate`.
   */
  path: string | readonly string[]
  /** Default `GET`. */
  method?: string
  /** Sent with every request; a `host` header replaces the target's. */
  headers?: Record<string, string>
  /** Sent with every request, in UTF-8; `content-length` is added. */
  body?: string
  /**
   * 1 to 65,535. In closed loop, each has one request in flight all the time. In open loop, requests wait while all connections are busy.
   */
  connections: number
  /** A connection for each request, which asks the server to close it. */
  newConnections?: boolean
  /** Over TLS, every connection resumes a session of one that is opened before the load. Default: none does. */
  resume?: boolean
  /** Open loop: requests per second over all connections, up to 10 million, due at random times. Absent: closed loop. */
  rate?: number
  /** Seed of arrivals and random parts of paths: a whole number, default 1. */
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
  /**
   * Other generators poll on the same core: whenever nothing happens, this one leaves it for a tenth of a millisecond. Else each would wait
   * for milliseconds until the others have used their share of the time.
   */
  sharesCore?: boolean
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

const DAY_MS = 86_400_000

/** @throws {LoadError} saying what is wrong with the first option that cannot be used */
export function validatePlan(plan: LoadPlan): void {
  requireInteger('connections', plan.connections, 1, 65_535)
  requireInteger('seed', plan.seed ?? 1, 0, 2 ** 32 - 1)
  requireNumber('rate', plan.rate ?? 1, 0.001, 1e7, 'requests per second')
  requireMilliseconds('durationMs', plan.durationMs, 1)
  requireMilliseconds('warmupMs', plan.warmupMs ?? 0, 0)
  requireMilliseconds('timeoutMs', plan.timeoutMs ?? 5_000, 1)
  const { method = 'GET', path, headers = {}, body, expect = {} } = plan
  const { paths } = new Requests({ method, path, headers, host: '', body }, () => 0)
  new Checker(expect, method, paths)
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new LoadError(`${name} is ${value}, but must be a whole number from ${min} to ${max}.`)
}

function requireMilliseconds(name: string, value: number, min: number): void {
  requireNumber(name, value, min, DAY_MS, 'milliseconds')
}

function requireNumber(name: string, value: number, min: number, max: number, unit: string): void {
  if (Number.isFinite(value) && value >= min && value <= max) return
  throw new LoadError(`${name} is ${value}, but must be from ${min} to ${max} ${unit}.`)
}
