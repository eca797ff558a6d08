import { HttpProblem } from './problem.ts'

/** Values of requests and responses: media types, limits, parameters. */

export const PLAIN_TEXT = 'text/plain; charset=utf-8'
export const JSON_TEXT = 'application/json; charset=utf-8'
export const HTML = 'text/html; charset=utf-8'
export const HEALTH_JSON = 'application/health+json'
export const PROBLEM_JSON = 'application/problem+json'

/** The `allow` header: the methods of every route. */
export const ALLOW = 'GET, HEAD, OPTIONS'

/** Bytes; a larger request body is 413. */
export const BODY_LIMIT = 65_536

/** Bytes of request line and headers; more is 431. This is Node's default, written down because proxies need the same limit. */
export const HEADER_LIMIT = 16_384

/** `cache-control` of HTML with a nonce or a request id: a cache must not give it to another client. */
export const PRIVATE = 'private, no-store'

/** `cache-control` of files with a hash in their names: their content never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The `retry-after` of a refused page, in seconds. A person takes longer to reload, and by then the queue is gone. */
export const RETRY_AFTER = '1'

/** The response to `GET /hello/:name`. */
export function greeting(name: string): string {
  return `Hello, ${name}!`
}

/** A query parameter that holds a count. */
export interface CountParameter {
  name: string
  default: number
  max: number
}

export const ITEMS = { name: 'items', default: 50, max: 1000 } as const satisfies CountParameter
export const DELAY_MS = { name: 'delay', default: 50, max: 5000 } as const satisfies CountParameter

/**
 * Reads a decimal integer from 0 to `parameter.max`.
 * @param value from the query parser: undefined, a string, or an array of all values
 * @throws {HttpProblem} 400 that names the parameter, if the value is anything else
 */
export function parseCount(value: unknown, parameter: CountParameter): number {
  const given = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (given === undefined) return parameter.default
  if (typeof given === 'string' && /^(?:0|[1-9]\d{0,3})$/.test(given)) {
    const count = Number(given)
    if (count <= parameter.max) return count
  }
  const reason = `must be a whole number from 0 to ${parameter.max}`
  throw new HttpProblem(400, { errors: [{ field: parameter.name, reason }] })
}
