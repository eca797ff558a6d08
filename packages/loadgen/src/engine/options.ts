import { Checker, type Expectation } from '../http/expectation.ts'
import { PathTemplate } from '../http/path-template.ts'
import type { Reach, Target } from '../http/target.ts'
import { LoadError } from './load-error.ts'
import { Requests } from './requests.ts'

/** One load as plain data: the same in this process and in another. */
export interface LoadPlan {
  target: Target
  /** Where the target may be; default `machine`. */
  reach?: Reach
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
   * 1 to 65,535. In closed loop, each connection has `pipeline` requests in flight all the time. In open loop, this is the maximum;
   * requests wait while all connections are busy.
   */
  connections: number
  /** Requests in flight on one connection, sent without waiting for the responses before; 1 to 1,024, default 1. */
  pipeline?: number
  /** A connection for each request, which asks the server to close it. */
  newConnections?: boolean
  /** Over TLS, every connection resumes a session of one that is opened before the load. Default: none does. */
  resume?: boolean
  /** Open loop: requests per second over all connections, up to 10 million. Absent: closed loop. */
  rate?: number
  /** Open loop: gaps of a Poisson process (default) or all the same. */
  arrivals?: 'poisson' | 'constant'
  /** Seed of arrivals and random parts of paths: a whole number, default 1. */
  seed?: number
  /** Milliseconds during which counted requests are due. Either this or `requests`. */
  durationMs?: number
  /** How many counted requests are sent. */
  requests?: number
  /** Milliseconds of load before the counted part; default 0. */
  warmupMs?: number
  /**
   * Milliseconds allowed for connecting and for a response, accurate to a tenth; default 5000. In open loop it starts when the
   * request was due.
   */
  timeoutMs?: number
  /** Milliseconds of one interval of the series; absent: no series. At least 10. */
  seriesMs?: number
  expect?: Expectation
}

export interface LoadOptions extends LoadPlan {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal
  /** Called a few times per second while load is offered. */
  onProgress?: (progress: Progress) => void
  /**
   * Called when all connections are open, before the first request, and when the last response is there, before they close. The load waits
   * until it resolves, so that accounts can be read in between. At `open` it may resolve with the time at which the load begins, in
   * milliseconds of `sharedNow`.
   */
  onPhase?: (phase: LoadPhase) => Promise<number | undefined>
  /**
   * Other generators poll on the same core: whenever nothing happens, this one leaves it for a tenth of a millisecond. Else each would wait
   * for milliseconds until the others have used their share of the time.
   */
  sharesCore?: boolean
}

/** How far a load has come. */
export interface Progress {
  /** Part of warm-up and duration (or of the requests) that is over, 0 to 1. */
  done: number
  warmingUp: boolean
  /** Counted responses so far. */
  requests: number
  /** Counted errors so far. */
  errors: number
}

/** Moments at which a load waits until the accounts have been read. */
export type LoadPhase = 'open' | 'responded'

const DAY_MS = 86_400_000

/** @throws {LoadError} saying what is wrong with the first option that cannot be used */
export function validatePlan(plan: LoadPlan): void {
  requireInteger('connections', plan.connections, 1, 65_535)
  requireInteger('pipeline', plan.pipeline ?? 1, 1, 1_024)
  requireInteger('seed', plan.seed ?? 1, 0, 2 ** 32 - 1)
  requireNumber('rate', plan.rate ?? 1, 0.001, 1e7, 'requests per second')
  requireLength(plan)
  requireMilliseconds('warmupMs', plan.warmupMs ?? 0, 0)
  requireMilliseconds('timeoutMs', plan.timeoutMs ?? 5_000, 1)
  requireMilliseconds('seriesMs', plan.seriesMs ?? 1_000, 10)
  refuseContradictions(plan)
  const { method = 'GET', path, headers = {}, body, expect = {} } = plan
  const { paths } = new Requests({ method, path, headers, host: '', body }, () => 0)
  new Checker(expect, method, paths)
  if (expect.learn) refuseRandomPaths(path)
}

function refuseRandomPaths(path: LoadPlan['path']): void {
  for (const text of typeof path === 'string' ? [path] : path) {
    if (!new PathTemplate(text).isFixed)
      throw new LoadError(`${text} has random parts, so one response does not say what the others must be.`)
  }
}

function requireLength({ durationMs, requests }: LoadPlan): void {
  if ((durationMs === undefined) === (requests === undefined)) {
    throw new LoadError('How long? Give either a duration or a number of requests.')
  }
  if (durationMs !== undefined) requireMilliseconds('durationMs', durationMs, 1)
  if (requests !== undefined) requireInteger('requests', requests, 1, 1e12)
}

function refuseContradictions({ pipeline = 1, newConnections, rate, arrivals }: LoadPlan): void {
  if (pipeline > 1 && newConnections)
    throw new LoadError('A connection per request has no room for a pipeline: choose one of the two.')
  if (arrivals !== undefined && rate === undefined)
    throw new LoadError('Arrivals belong to an open loop: give a rate as well.')
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
