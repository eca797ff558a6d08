import { STATUS_CODES } from 'node:http'
import type { Response } from '@startgrid/wire/reader.ts'
import { compareBytes, compareJson, differ, type Finding, quote, readJson } from './finding.ts'
import { inspectDocument, type PolicyKind } from './markup.ts'

/** What the contract says about one response, in addition to the rules for all responses (see `judge`). */
export interface Expectation {
  /** It has one of these. */
  statuses: readonly number[]
  /** Compared after parsing. */
  type?: string
  /** Headers beyond those of all responses, with their values. */
  headers?: Readonly<Record<string, RegExp>>
  /** The content-security-policy; default `plain`. */
  policy?: PolicyKind
  /** Judges the body. Not called for HEAD. */
  body?: (response: Response) => Finding[]
  /** Only the status is checked: it comes from a parser, an HTTP server, or a framework's last resort. */
  statusOnly?: true
}

/** Values from docs/contract.md. They are repeated here on purpose, and not imported from the apps. */
const NO_STORE = /^(?=.*\bno-store\b)/i
/** A cache must not give it to another client. */
const PRIVATE = /^(?=.*\bprivate\b)(?=.*\bno-store\b)/i
/** A year, and no question while it lasts. `public` matters only for a request with credentials. */
const IMMUTABLE = /^(?!.*\b(?:private|no-store|no-cache)\b)(?=.*\bmax-age=31536000\b).*\bimmutable\b/

export function text(body: string): Expectation {
  return {
    statuses: [200],
    type: 'text/plain; charset=utf-8',
    body: (response) => compareBytes(Buffer.from(body), response.body),
  }
}

export function json(value: unknown): Expectation {
  return {
    statuses: [200],
    type: 'application/json',
    body: (response) => compareJson(value, response.body),
  }
}

/** Problem details with one of these statuses. */
export function problem(...statuses: number[]): Expectation {
  return {
    statuses,
    type: 'application/problem+json',
    body: ({ status, body }) => inspectProblem(body, status),
  }
}

/** 400 by a page, of which a parameter is not valid. The headers of a page may be set by then. */
export function invalid(parameter: string): Expectation {
  return {
    ...problem(400),
    policy: 'either',
    body: ({ status, body }) => inspectProblem(body, status, parameter),
  }
}

/** For a method without a route, on a path that only has GET. */
export function otherMethod(): Expectation {
  return problem(404, 405, 501)
}

export function health(): Expectation {
  return { ...json({ status: 'pass' }), headers: { 'cache-control': NO_STORE } }
}

/** What an HTTP server may send in place of the app: only the status counts. */
export function refused(...statuses: number[]): Expectation {
  return { statuses, statusOnly: true }
}

/** The whole document with so many items. */
export function document(items: number): Expectation {
  return {
    statuses: [200],
    type: 'text/html; charset=utf-8',
    headers: { 'cache-control': PRIVATE },
    policy: 'page',
    body: inspectDocument(items),
  }
}

/** A file. A cache must know that a coded one depends on the client. @param coding the header, if there must be one */
export function asset(type: string, coding?: RegExp): Expectation {
  const coded = coding && { 'content-encoding': coding, vary: /\baccept-encoding\b/i }
  return { statuses: [200], type, headers: { 'cache-control': IMMUTABLE, ...coded } }
}

/** RFC 9110 renamed these; Node has the older names. Both are right. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large', 422: 'Unprocessable Content' }

/**
 * Problem details (RFC 9457). There may be further members.
 * @param field that one of the errors must name
 */
function inspectProblem(body: Buffer, status: number, field?: string): Finding[] {
  const problem = readJson(body)
  const titles = [STATUS_CODES[status], RENAMED[status]]
  const expected = `problem details: type about:blank, title ${titles[0]}, status ${status}`
  if (!isObject(problem)) return differ(expected, quote(body))
  const { type, title, detail, errors } = problem
  const isSound = type === 'about:blank' && titles.includes(String(title)) && problem.status === status
  const findings = isSound ? [] : differ(expected, quote(body))
  const note = (wanted: string) => findings.push({ expected: wanted, received: quote(body) })
  if (detail !== undefined && (typeof detail !== 'string' || status >= 500))
    note('a detail that is a text, and none to a 5xx')
  if ('stack' in problem || /\\n\s*at /.test(body.toString('utf8'))) note('no stack')
  if (errors !== undefined && !(Array.isArray(errors) && errors.every(isFieldError)))
    note('errors as a list of field and reason')
  if (field !== undefined && !(Array.isArray(errors) && errors.some((error) => error?.field === field)))
    note(`errors with the field ${field}`)
  return findings
}

/** RFC 9457 section 3.2 leaves the members of an extension to the API. */
function isFieldError(error: unknown): boolean {
  if (!isObject(error)) return false
  return [error.field, error.reason].every((text) => typeof text === 'string' && text !== '')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
