import { HttpProblem } from './problem.ts'

/** The values that every app shares. */

export const PLAIN_TEXT = 'text/plain; charset=utf-8'
export const JSON_TEXT = 'application/json; charset=utf-8'
export const HTML = 'text/html; charset=utf-8'
export const HEALTH_JSON = 'application/health+json'
export const PROBLEM_JSON = 'application/problem+json'

/** What every route allows. */
export const ALLOW = 'GET, HEAD, OPTIONS'

/** Bytes; a larger request body is 413. */
export const BODY_LIMIT = 65_536

/** Bytes of request line and headers; more is 431. Node's own default, written out for whatever stands in front. */
export const HEADER_LIMIT = 16_384

/** Of HTML with a nonce or a request id: a cache must not give it to somebody else. */
export const PRIVATE = 'private, no-store'

/** Hashed file names never change their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The response to `GET /hello/:name`. */
export function greeting(name: string): string {
  return `Hello, ${name}!`
}

export const ITEMS = { default: 50, max: 1000 } as const
export const DELAY_MS = { default: 50, max: 5000 } as const

/**
 * A query value that must be a plain decimal from 0 to `range.max`.
 * @param value as the framework's query parser gives it: absent, a string, or an array of all that were given
 * @throws {HttpProblem} 400 for anything else
 */
export function parseCount(value: unknown, range: { default: number; max: number }): number {
  const given = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (given === undefined) return range.default
  if (typeof given === 'string' && /^(?:0|[1-9]\d{0,3})$/.test(given)) {
    const count = Number(given)
    if (count <= range.max) return count
  }
  throw new HttpProblem(400)
}
