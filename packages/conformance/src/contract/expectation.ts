import { STATUS_CODES } from 'node:http'
import { type Inspection, inspectDocument } from './markup.ts'
import { inspectProblem } from './problem.ts'

/** Values from docs/contract.md. They are repeated here on purpose, and not imported from the apps. */
const PLAIN_TEXT = 'text/plain; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
/** A cache must not give it to another client. */
const PRIVATE = /^private, no-store$/i
/** A year, and no question while it lasts. `public` matters only for a request with credentials. */
const IMMUTABLE = /^(?!.*\b(?:private|no-store|no-cache)\b)(?=.*\bmax-age=31536000\b).*\bimmutable\b/

/** What the contract says about one response, in addition to the rules for all responses (see `judge`). */
export interface Expectation {
  status: number
  /** Headers beyond those of all responses, with their values. */
  headers: Readonly<Record<string, string | RegExp>>
  /** Headers that may be present, with their allowed values. All others are forbidden. */
  optional?: Readonly<Record<string, RegExp>>
  /** Compared after parsing: case and spaces do not matter, and JSON types may have `charset=utf-8`. */
  type?: string
  /** The exact body; absent with `json` or `inspect`, or if there must be no body. */
  body?: Buffer
  /** The body is JSON of this value, in any formatting. */
  json?: unknown
  /** Judges a body that varies. */
  inspect?: Inspection
  /** The page policy with a fresh nonce instead of the plain policy. */
  page?: true
  /** The length is not known in advance: no content-length. */
  streamed?: true
  /** A parser, the wrapper around the server or a proxy rejected the request: only the status is checked. */
  statusOnly?: true
  /** Only the status and the rules for all responses are checked: the framework chooses the rest. */
  ownBody?: true
}

/** A body of known bytes. */
function content(type: string, body: string | Buffer, status = 200): Expectation {
  return { status, type, headers: {}, body: Buffer.from(body) }
}

export function text(body: string): Expectation {
  return content(PLAIN_TEXT, body)
}

export function json(value: unknown): Expectation {
  return { status: 200, type: 'application/json', headers: {}, json: value }
}

/**
 * Problem details with the title from the HTTP registry.
 * @param field that is not valid, and which `errors` must name
 */
export function problemOf(status: number, field?: string): Expectation {
  const title = RENAMED[status] ?? STATUS_CODES[status]
  const inspect: Inspection = (body) => inspectProblem(body, { type: 'about:blank', title, status }, field)
  return { status, type: 'application/problem+json', headers: {}, inspect }
}

/** RFC 9110 renamed these; Node has the older names. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large', 422: 'Unprocessable Content' }

/** `GET` and `HEAD` in any order, perhaps with `OPTIONS`, and nothing else. */
const ALLOW = /^(?=.*\bGET\b)(?=.*\bHEAD\b)(?:(?:GET|HEAD|OPTIONS)(?: *, *|$))+$/

/** For a path whose last parameter is empty: no route matches, or the parameter is not valid. */
export function emptyParameter(): Expectation[] {
  return [problemOf(404), problemOf(400)]
}

/** For a method without a route, on a path that only has GET. */
export function otherMethod(): Expectation[] {
  return [withHeaders(problemOf(405), { allow: ALLOW }), problemOf(404), problemOf(501)]
}

/** For an unknown method on an unknown path. */
export function unknownPath(method: string): Expectation[] {
  if (method !== 'PROPFIND') return [problemOf(404)]
  return [problemOf(404), { ...problemOf(405), optional: { allow: /^[A-Z, ]*$/ } }, problemOf(501)]
}

/** For OPTIONS on a path that only has GET. RFC 9110 section 8.6 forbids content-length in a 204. */
export function optionsOfGet(): Expectation[] {
  const ok: Expectation = {
    status: 200,
    headers: { allow: ALLOW },
    optional: { 'content-type': /./ },
    ownBody: true,
  }
  return [{ status: 204, headers: { allow: ALLOW } }, ok, ...otherMethod()]
}

/** Other allowed outcomes if there is a body that the route does not read. */
export function unreadBody(): Expectation[] {
  return [problemOf(400), problemOf(413), problemOf(415)]
}

export function health(): Expectation {
  return {
    ...withHeaders(json({ status: 'pass' }), { 'cache-control': 'no-store' }),
    type: 'application/health+json',
  }
}

/** What a parser, a proxy or the wrapper around the server refuses. */
export function refused(status: number): Expectation {
  return { status, headers: {}, statusOnly: true }
}

/** The whole document with so many items. */
export function document(items: number): Expectation {
  const headers = { 'cache-control': PRIVATE }
  return { status: 200, type: HTML, headers, inspect: inspectDocument(items), page: true }
}

/** The same document in pieces. */
export function streamedDocument(items: number): Expectation {
  return { ...document(items), streamed: true }
}

/** RFC 9110 section 5.6.7: IMF-fixdate. */
export const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** A file in one coding; without a coding the content-encoding is absent. A cache must know that a coded one depends on the client. */
export function asset(type: string, coding?: string): Expectation {
  const encoded = coding === undefined ? {} : { 'content-encoding': coding, vary: /^accept-encoding$/i }
  return {
    status: 200,
    type,
    headers: { 'cache-control': IMMUTABLE, ...encoded },
    optional: { etag: /./, 'last-modified': /./, 'accept-ranges': /./ },
    inspect: () => [],
  }
}

function withHeaders(expectation: Expectation, headers: Expectation['headers']): Expectation {
  return { ...expectation, headers: { ...expectation.headers, ...headers } }
}
