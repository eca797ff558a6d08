import { STATUS_CODES } from 'node:http'
import type { Manner, Situation } from './manners.ts'
import { type Inspection, inspectDocument, inspectFragment } from './markup.ts'
import { inspectProblem } from './problem.ts'

/** The values stand here as docs/contract.md writes them, and are not those that the apps import. */
const PLAIN_TEXT = 'text/plain; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
/** No cache may hand it to somebody else. */
const PRIVATE = /^private, no-store$/i
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** What the contract says about one response, apart from what it says about all of them (see `judge`). */
export interface Expectation {
  status: number
  /** Headers beyond those of all responses, with their values. */
  headers: Readonly<Record<string, string | RegExp>>
  /** Headers that may be there, with the values they may have. No other header may. */
  optional?: Readonly<Record<string, RegExp>>
  /** Compared as parsed: case and spaces do not count, and JSON types may name `charset=utf-8`. */
  type?: string
  /** The bytes of the body; absent with `json`, `inspect`, or where there must be none. */
  body?: Buffer
  /** The body is JSON of this value, however it is spelled. */
  json?: unknown
  /** Judges a body that is not the same each time. */
  inspect?: Inspection
  /** The page policy with a fresh nonce instead of the plain policy. */
  page?: true
  /** The length is not known in advance: no content-length. */
  streamed?: true
  /** A parser, the wrapper around the server or a proxy refused: nothing but the status counts. */
  statusOnly?: true
  /** The status, and then the rules for all responses: the rest is the framework's own. */
  ownBody?: true
  /** What it says about the server that this outcome, of several allowed ones, was seen. */
  manner?: Manner
}

/** A body of known bytes. */
export function content(type: string, body: string | Buffer, status = 200): Expectation {
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

/** A path whose last parameter is empty: no route matches, or the parameter is not valid. */
export function emptyParameter(): Expectation[] {
  return named('empty-parameter', [problemOf(404), problemOf(400)])
}

/** A method that no route has, on a path that has only GET. */
export function otherMethod(situation?: 'other-method' | 'rare-method'): Expectation[] {
  const choices = [withHeaders(problemOf(405), { allow: ALLOW }), problemOf(404), problemOf(501)]
  return situation === undefined ? choices : named(situation, choices)
}

/** A method that nothing has, on a path that nothing has. */
export function unknownPath(method: string): Expectation[] {
  const choices = [problemOf(404)]
  if (method !== 'PROPFIND') return choices
  const others = [withOptional(problemOf(405), { allow: /^[A-Z, ]*$/ }), problemOf(501)]
  return named('rare-method-unknown-path', [...choices, ...others])
}

/** OPTIONS on a path that has only GET: RFC 9110 section 8.6 forbids content-length in a 204. */
export function optionsOfGet(): Expectation[] {
  const ok: Expectation = {
    status: 200,
    headers: { allow: ALLOW },
    optional: { 'content-type': /./ },
    ownBody: true,
  }
  return named('options', [{ status: 204, headers: { allow: ALLOW } }, ok, ...otherMethod()])
}

/** One of several outcomes that the contract allows, each noted under its status. */
export function named(situation: Situation, choices: readonly Expectation[]): Expectation[] {
  return choices.map((choice) => ({ ...choice, manner: [situation, String(choice.status)] }))
}

/** What may happen instead where a body comes that the route does not read. */
export function unreadBody(situation?: Situation): Expectation[] {
  const choices = [problemOf(400), problemOf(413), problemOf(415)]
  return situation === undefined ? choices : named(situation, choices)
}

/** The outcome under a name in the table of manners. */
export function shows(expectation: Expectation, ...manner: Manner): Expectation {
  return { ...expectation, manner }
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

export function fragment(): Expectation {
  return { ...document(0), inspect: inspectFragment }
}

/** RFC 9110 section 8.8.3: quotes are part of it; weak or strong. */
export const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** RFC 9110 section 5.6.7: IMF-fixdate. */
export const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** What a server that knows ranges and dates of files may say. */
const FILE: Expectation['optional'] = { 'last-modified': HTTP_DATE, 'accept-ranges': /^(?:bytes|none)$/ }

/** A file in one coding; without a coding the content-encoding is absent. */
export function asset(type: string, body: Buffer | undefined, coding?: string): Expectation {
  const encoded = coding === undefined ? {} : { 'content-encoding': coding }
  const whole: Expectation = {
    status: 200,
    type,
    headers: { ...cached(ENTITY_TAG), ...encoded },
    optional: FILE ?? {},
  }
  return body === undefined ? { ...whole, inspect: () => [] } : { ...whole, body }
}

/** RFC 9110 section 15.4.5, and nothing that describes a body. */
export function notModified(etag: string | RegExp): Expectation {
  return { status: 304, headers: cached(etag), optional: FILE ?? {} }
}

/** RFC 9110 section 15.3.7: a part of a file. */
export function partial(type: string, whole: Buffer, [start, end]: readonly [number, number]): Expectation {
  const range = `bytes ${start}-${end}/${whole.length}`
  return withHeaders(
    { ...asset(type, whole.subarray(start, end + 1)), status: 206 },
    { 'content-range': range },
  )
}

function cached(etag: string | RegExp): Record<string, string | RegExp> {
  return { 'cache-control': IMMUTABLE, etag, vary: /^accept-encoding$/i }
}

function withHeaders(expectation: Expectation, headers: Expectation['headers']): Expectation {
  return { ...expectation, headers: { ...expectation.headers, ...headers } }
}

function withOptional(expectation: Expectation, optional: NonNullable<Expectation['optional']>): Expectation {
  return { ...expectation, optional: { ...expectation.optional, ...optional } }
}
