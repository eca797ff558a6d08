import {
  ALLOW,
  HEALTH_JSON,
  HTML,
  IMMUTABLE,
  JSON_TEXT,
  PLAIN_TEXT,
  PROBLEM_JSON,
} from '@startgrid/shared/http/contract.ts'
import { PASS } from '@startgrid/shared/http/health.ts'
import { problem } from '@startgrid/shared/http/problem.ts'
import { type Inspection, inspectDocument, inspectFragment } from './markup.ts'

/** What the contract says about one answer, apart from what it says about all of them (see `judge`). */
export interface Expectation {
  status: number
  /** Every header beyond those of all answers, with its value. Nothing else may be there. */
  headers: Readonly<Record<string, string | RegExp>>
  /** The bytes of the body; absent with `inspect`, or where there must be none. */
  body?: Buffer
  /** Judges a body that is not the same each time. */
  inspect?: Inspection
  /** The page policy with a fresh nonce instead of the plain policy. */
  page?: true
  /** The length is not known in advance: no content-length. */
  streamed?: true
  /** The HTTP parser refused: nothing but the status counts. */
  statusOnly?: true
}

/** A body of known bytes. */
export function content(type: string, body: string | Buffer, status = 200): Expectation {
  return { status, headers: { 'content-type': type }, body: Buffer.from(body) }
}

export function text(body: string): Expectation {
  return content(PLAIN_TEXT, body)
}

export function json(body: string): Expectation {
  return content(JSON_TEXT, body)
}

/** Problem details with the title from the HTTP registry. */
export function problemOf(status: number): Expectation {
  return content(PROBLEM_JSON, problem(status), status)
}

export function methodNotAllowed(): Expectation {
  return withHeaders(problemOf(405), { allow: ALLOW })
}

/** The answer to OPTIONS: RFC 9110 section 8.6 forbids content-length in a 204. */
export function allowed(): Expectation {
  return { status: 204, headers: { allow: ALLOW } }
}

export function health(): Expectation {
  return withHeaders(content(HEALTH_JSON, PASS), { 'cache-control': 'no-store' })
}

/** What an HTTP parser itself refuses. */
export function refused(status: number): Expectation {
  return { status, headers: {}, statusOnly: true }
}

/** The whole document with so many items. */
export function document(items: number): Expectation {
  return { status: 200, headers: { 'content-type': HTML }, inspect: inspectDocument(items), page: true }
}

/** The same document in pieces. */
export function streamedDocument(items: number): Expectation {
  return { ...document(items), streamed: true }
}

export function fragment(): Expectation {
  return { status: 200, headers: { 'content-type': HTML }, inspect: inspectFragment, page: true }
}

/** RFC 9110 section 8.8.3: quotes are part of it; weak or strong. */
export const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** A file in one coding; without a coding the content-encoding is absent. */
export function asset(type: string, body: Buffer | undefined, coding?: string): Expectation {
  const headers: Record<string, string | RegExp> = { 'content-type': type, ...cached(ENTITY_TAG) }
  if (coding !== undefined) headers['content-encoding'] = coding
  return body === undefined ? { status: 200, headers, inspect: () => [] } : { status: 200, headers, body }
}

/** RFC 9110 section 15.4.5, and nothing that describes a body. */
export function notModified(etag: string): Expectation {
  return { status: 304, headers: cached(etag) }
}

function cached(etag: string | RegExp): Record<string, string | RegExp> {
  return { 'cache-control': IMMUTABLE, etag, vary: 'Accept-Encoding' }
}

function withHeaders(expectation: Expectation, headers: Expectation['headers']): Expectation {
  return { ...expectation, headers: { ...expectation.headers, ...headers } }
}
