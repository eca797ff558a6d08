import { headerValue, headerValues } from '../http/header.ts'
import { methodOf, type Request, shorten } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { type Expectation, HTTP_DATE } from './expectation.ts'
import { compareBytes, compareJson, type Finding, quote } from './finding.ts'

/** Values that must be unique while one server is checked. */
export interface Session {
  /** NGINX is in front, and may name itself. */
  proxied: boolean
  ids: Set<string>
  nonces: Set<string>
}

export function createSession(proxied: boolean): Session {
  return { proxied, ids: new Set(), nonces: new Set() }
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/
/** At least 128 bits (CSP3, section 7.1), in base64. */
const NONCE = '([A-Za-z0-9+/_-]{22,}={0,2})'
/** On every response. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const POLICY =
  "default-src 'none'; script-src 'nonce-NONCE' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
const PAGE_POLICY = new RegExp(`^${POLICY.replace('NONCE', NONCE)}$`)

/** Headers that any response may have, with the values they may have. */
const FREE: Readonly<Record<string, RegExp>> = {
  date: HTTP_DATE,
  connection: /^(?:keep-alive|close)$/i,
  'keep-alive': /^timeout=\d+(?:, max=\d+)?$/,
  'transfer-encoding': /^chunked$/i,
  vary: /^accept-encoding$/i,
}

/**
 * Compares a response with the contract: syntax, status, all headers, body. The headers of all responses are checked here, so that no
 * check can forget them.
 * @param expected several if the contract allows several; those with the status of the response apply
 */
export function judge(
  request: Request,
  response: HttpResponse,
  expected: Expectation | readonly Expectation[],
  session: Session,
): Finding[] {
  const choices = [expected].flat()
  const faults = response.faults.map((fault) => ({
    expected: 'a response in correct syntax',
    received: fault,
  }))
  const trials = choices
    .filter(({ status }) => status === response.status)
    .map((choice) => ({ choice, findings: judgeOne(request, response, choice, session) }))
  const [nearest] = trials.sort((a, b) => a.findings.length - b.findings.length)
  if (nearest === undefined) return [...faults, wrongStatus(response, choices)]
  const { choice, findings } = nearest
  if (choice.statusOnly) return []
  const once = [...judgeId(request, response, session), ...(choice.page ? judgeNonce(response, session) : [])]
  return [...faults, ...findings, ...once]
}

function judgeOne(
  request: Request,
  response: HttpResponse,
  choice: Expectation,
  session: Session,
): Finding[] {
  if (choice.statusOnly) return []
  return [...judgeHeaders(request, response, choice, session), ...judgeBody(request, response, choice)]
}

function wrongStatus(response: HttpResponse, choices: readonly Expectation[]): Finding {
  const body = response.body.length === 0 ? '' : ` with the body ${quote(response.body)}`
  const statuses = [...new Set(choices.map(({ status }) => status))]
  return { expected: `status ${statuses.join(' or ')}`, received: `status ${response.status}${body}` }
}

function judgeHeaders(
  request: Request,
  response: HttpResponse,
  expected: Expectation,
  session: Session,
): Finding[] {
  const rules = { ...commonRules(expected), ...expected.headers }
  const findings = Object.entries(rules).flatMap(([name, rule]) => judgeHeader(response, name, rule))
  return [
    ...findings,
    ...judgeType(request, response, expected.type),
    ...judgeLength(request, response, expected),
    ...judgeOthers(response, expected, rules, session),
  ]
}

function commonRules(expected: Expectation): Record<string, string | RegExp> {
  const policy = expected.page ? { 'content-security-policy': PAGE_POLICY } : {}
  return { ...SECURITY_HEADERS, ...policy, 'x-request-id': REQUEST_ID }
}

/** RFC 9110 section 8.3.1: type and parameter names have no case, and neither has a charset. */
function judgeType(request: Request, response: HttpResponse, expected: string | undefined): Finding[] {
  if (expected === undefined) return []
  const values = headerValues(response.headers, 'content-type')
  const wanted = `content-type: ${expected}`
  if (values.length > 1) return [{ expected: wanted, received: `content-type ${values.length} times` }]
  const [value] = values
  if (value === undefined)
    return mayLeaveType(request, expected) ? [] : [{ expected: wanted, received: 'no content-type' }]
  return parseType(value) === parseType(expected)
    ? []
    : [{ expected: wanted, received: `content-type: ${value}` }]
}

/** Bun finds the type of a string when it writes the body (https://github.com/oven-sh/bun/pull/33427). */
function mayLeaveType(request: Request, expected: string): boolean {
  return methodOf(request) === 'HEAD' && expected.startsWith('text/plain')
}

/**
 * Lower case, no spaces around the separators, and no charset where it changes nothing: JSON has none (RFC 8259 section 11), scripts and
 * styles have that of their page, an SVG declares its own. `application/javascript` is the older name (RFC 9239).
 */
function parseType(value: string): string {
  const [name = '', ...parameters] = value.toLowerCase().split(/ *; */)
  const type = name.replace('application/javascript', 'text/javascript')
  const charset = /^(?:application\/(?:.*\+)?json|text\/(?:javascript|css)|image\/svg\+xml)$/.test(type)
    ? 'charset=utf-8'
    : ''
  return [type.trim(), ...parameters.filter((parameter) => parameter !== charset)].join('; ')
}

/** The parser has checked that a body has the declared length. For HEAD, only the number can be checked. */
function judgeLength(request: Request, response: HttpResponse, expected: Expectation): Finding[] {
  const values = headerValues(response.headers, 'content-length')
  if (values.length > 1)
    return [{ expected: 'content-length (once)', received: `content-length ${values.length} times` }]
  const [value] = values
  if (value === undefined) return []
  const empty = expected.body === undefined && expected.json === undefined && expected.inspect === undefined
  if (expected.streamed || (empty && !expected.ownBody))
    return [{ expected: 'no content-length', received: `content-length: ${value}` }]
  const length = expected.body?.length
  if (methodOf(request) !== 'HEAD' || length === undefined || value === String(length)) return []
  return [{ expected: `content-length: ${length}`, received: `content-length: ${value}` }]
}

function judgeHeader(response: HttpResponse, name: string, rule: string | RegExp): Finding[] {
  const values = headerValues(response.headers, name)
  const [value] = values
  const expected = `${name}: ${typeof rule === 'string' ? rule : describeRule(name, rule)}`
  if (value === undefined) return [{ expected, received: `no ${name}` }]
  if (values.length > 1)
    return [{ expected: `${expected} (once)`, received: `${name} ${values.length} times` }]
  if (typeof rule === 'string' ? value === rule : rule.test(value)) return []
  return [{ expected, received: `${name}: ${shorten(value, 300)}` }]
}

function describeRule(name: string, rule: RegExp): string {
  if (name === 'content-security-policy') return POLICY
  if (name === 'x-request-id') return '1 to 64 characters from A-Za-z0-9._-'
  if (name === 'allow') return 'GET, HEAD, perhaps with OPTIONS'
  return rule.source
}

function judgeOthers(
  response: HttpResponse,
  expected: Expectation,
  rules: object,
  session: Session,
): Finding[] {
  const names = new Set(response.headers.map(([name]) => name.toLowerCase()))
  names.delete('content-length')
  if (expected.type !== undefined) names.delete('content-type')
  return [...names]
    .filter((name) => !Object.hasOwn(rules, name))
    .flatMap((name) => judgeOther(response, name, expected, session))
}

function judgeOther(
  response: HttpResponse,
  name: string,
  expected: Expectation,
  session: Session,
): Finding[] {
  const values = headerValues(response.headers, name)
  const allowed = expected.optional?.[name]
  const rule = allowed ?? (session.proxied && name === 'server' ? /^nginx/ : FREE[name])
  if (rule === undefined)
    return [{ expected: `no ${name}`, received: `${name}: ${shorten(values.join(', '))}` }]
  return judgeHeader(response, name, rule)
}

function judgeId(request: Request, response: HttpResponse, session: Session): Finding[] {
  const received = headerValue(response.headers, 'x-request-id')
  if (received === undefined) return []
  const sent = headerValues(request.headers ?? [], 'x-request-id')
  const [only = ''] = sent
  if (sent.length === 1 && REQUEST_ID.test(only)) {
    return received === only
      ? []
      : [{ expected: `x-request-id: ${only}`, received: `x-request-id: ${received}` }]
  }
  if (sent.some((value) => value.includes(received))) {
    // NGINX before 1.23 sees only the first of several equal headers.
    if (session.proxied && sent.length > 1 && received === only) return []
    return [
      { expected: 'a fresh x-request-id for one that is not valid', received: `x-request-id: ${received}` },
    ]
  }
  if (session.ids.has(received)) return [{ expected: 'a fresh x-request-id', received: `${received} again` }]
  session.ids.add(received)
  return []
}

/** The nonce in the policy of a page; undefined if the policy is another. */
export function nonceOf(response: HttpResponse): string | undefined {
  return PAGE_POLICY.exec(headerValue(response.headers, 'content-security-policy') ?? '')?.[1]
}

function judgeNonce(response: HttpResponse, session: Session): Finding[] {
  const nonce = nonceOf(response)
  if (nonce === undefined) return []
  if (session.nonces.has(nonce)) return [{ expected: 'a fresh nonce', received: `the nonce ${nonce} again` }]
  session.nonces.add(nonce)
  return []
}

function judgeBody(request: Request, response: HttpResponse, expected: Expectation): Finding[] {
  if (methodOf(request) === 'HEAD' || expected.ownBody) return []
  if (expected.body !== undefined) return compareBytes(expected.body, response.body)
  if (expected.json !== undefined) return compareJson(expected.json, response.body)
  if (expected.inspect !== undefined) {
    const id = headerValue(response.headers, 'x-request-id')
    return expected.inspect(response.body, { id, nonce: nonceOf(response) })
  }
  return response.body.length === 0
    ? []
    : [{ expected: 'no body', received: `the body ${quote(response.body)}` }]
}
