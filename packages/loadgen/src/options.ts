import { Checker, type Expectation } from './expectation.ts'
import { LoadError } from './load-error.ts'
import { requestBytes } from './request.ts'
import type { Target } from './target.ts'

/** One load as plain data: the same in this process and in another. */
export interface LoadPlan {
  target: Target
  /** Path and query as they stand in the request line. */
  path: string
  /** Default `GET`. Requests have no body. */
  method?: string
  /** Sent with every request; a `host` header replaces the target's. */
  headers?: Record<string, string>
  /** Connections kept open, each with one request in flight; 1 to 65,535. */
  connections: number
  /** Milliseconds during which counted requests are sent. */
  durationMs: number
  /** Milliseconds of load before that, which is not counted; default 0. */
  warmupMs?: number
  /** Milliseconds allowed to a connection attempt and to an answer, to within a tenth; default 5000. */
  timeoutMs?: number
  expect?: Expectation
}

export interface LoadOptions extends LoadPlan {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal
  /** Called a few times per second while load is offered. */
  onProgress?: (progress: Progress) => void
}

export interface Progress {
  /** Part of warm-up and duration that is over, 0 to 1. */
  done: number
  warmingUp: boolean
  /** Counted answers so far. */
  requests: number
  /** Counted errors so far. */
  errors: number
}

const DAY_MS = 86_400_000

/** @throws {LoadError} saying what is wrong with the first option that cannot be used */
export function validatePlan(plan: LoadPlan): void {
  requireInteger('connections', plan.connections, 1, 65_535)
  requireMilliseconds('durationMs', plan.durationMs, 1)
  requireMilliseconds('warmupMs', plan.warmupMs ?? 0, 0)
  requireMilliseconds('timeoutMs', plan.timeoutMs ?? 5_000, 1)
  const { method = 'GET', path, headers = {}, expect = {} } = plan
  requestBytes({ method, path, headers, host: '' })
  new Checker(expect, method)
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new LoadError(`${name} is ${value}, but must be a whole number from ${min} to ${max}.`)
}

function requireMilliseconds(name: string, value: number, min: number): void {
  if (Number.isFinite(value) && value >= min && value <= DAY_MS) return
  throw new LoadError(`${name} is ${value}, but must be from ${min} to ${DAY_MS} milliseconds.`)
}
