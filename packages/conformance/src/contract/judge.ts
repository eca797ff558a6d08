import { pagePolicy, SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import type { Answer } from '../http/answer.ts'
import { headerValue, headerValues } from '../http/header.ts'
import { methodOf, type Request, shorten } from '../http/request.ts'
import type { Expectation } from './expectation.ts'

/** One thing that is not as the contract says. */
export interface Finding {
  expected: string
  received: string
}

/** What must never come twice while one server is checked. */
export interface Session {
  /** NGINX stands in front and may name itself. */
  proxied: boolean
  ids: Set<string>
  nonces: Set<string>
}

export function createSession(proxied: boolean): Session {
  return { proxied, ids: new Set(), nonces: new Set() }
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/
const NONCE = '([A-Za-z0-9+/]{24})'
const PAGE_POLICY = new RegExp(
  `^${pagePolicy('NONCE')
    .replace(/[.*+?]/g, '\\$&')
    .replace('NONCE', NONCE)}$`,
)

/** Headers that may be there or not, with the values they may have. */
const FREE: Readonly<Record<string, RegExp>> = {
  // RFC 9110 section 5.6.7: IMF-fixdate.
  date: /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  connection: /^(?:keep-alive|close)$/i,
  'keep-alive': /^timeout=\d+(?:, max=\d+)?$/,
  'transfer-encoding': /^chunked$/i,
}

/**
 * Compares an answer with what the contract says: syntax, status, every header, body. The headers of all answers are
 * looked at here, so that no check can forget them.
 * @param expected several where the contract allows several: the status decides which one applies
 */
export function judge(
  request: Request,
  answer: Answer,
  expected: Expectation | readonly Expectation[],
  session: Session,
): Finding[] {
  const choices = [expected].flat()
  const faults = answer.faults.map((fault) => ({ expected: 'an answer in correct syntax', received: fault }))
  const choice = choices.find(({ status }) => status === answer.status)
  if (choice === undefined) return [...faults, wrongStatus(answer, choices)]
  if (choice.statusOnly) return []
  return [...faults, ...judgeHeaders(request, answer, choice, session), ...judgeBody(request, answer, choice)]
}

function wrongStatus(answer: Answer, choices: readonly Expectation[]): Finding {
  const body = answer.body.length === 0 ? '' : ` with the body ${quote(answer.body)}`
  return {
    expected: `status ${choices.map(({ status }) => status).join(' or ')}`,
    received: `status ${answer.status}${body}`,
  }
}

function judgeHeaders(request: Request, answer: Answer, expected: Expectation, session: Session): Finding[] {
  const rules = { ...commonRules(expected), ...lengthRule(request, expected), ...expected.headers }
  const findings = Object.entries(rules).flatMap(([name, rule]) => judgeHeader(answer, name, rule))
  return [
    ...findings,
    ...judgeOthers(answer, rules, session),
    ...judgeId(request, answer, session),
    ...(expected.page ? judgeNonce(answer, session) : []),
  ]
}

function commonRules(expected: Expectation): Record<string, string | RegExp> {
  const policy = expected.page ? { 'content-security-policy': PAGE_POLICY } : {}
  return { ...SECURITY_HEADERS, ...policy, 'x-request-id': REQUEST_ID }
}

/** The parser saw to it that a body is as long as declared; to HEAD the number is all there is. */
function lengthRule(request: Request, expected: Expectation): Record<string, string | RegExp> {
  if (expected.streamed || (expected.body === undefined && expected.inspect === undefined)) return {}
  const known = expected.body !== undefined && methodOf(request) === 'HEAD'
  return { 'content-length': known ? String(expected.body?.length) : /^(?:0|[1-9]\d*)$/ }
}

function judgeHeader(answer: Answer, name: string, rule: string | RegExp): Finding[] {
  const values = headerValues(answer.headers, name)
  const [value] = values
  const expected = `${name}: ${typeof rule === 'string' ? rule : describeRule(name, rule)}`
  if (value === undefined) return [{ expected, received: `no ${name}` }]
  if (values.length > 1)
    return [{ expected: `${expected} (once)`, received: `${name} ${values.length} times` }]
  if (typeof rule === 'string' ? value === rule : rule.test(value)) return []
  return [{ expected, received: `${name}: ${shorten(value, 300)}` }]
}

function describeRule(name: string, rule: RegExp): string {
  if (name === 'content-security-policy') return pagePolicy('NONCE')
  if (name === 'x-request-id') return '1 to 64 characters from A-Za-z0-9._-'
  if (name === 'etag') return 'an entity tag'
  if (name === 'content-length') return 'the length of the body'
  return rule.source
}

function judgeOthers(answer: Answer, rules: object, session: Session): Finding[] {
  const names = new Set(answer.headers.map(([name]) => name.toLowerCase()))
  return [...names]
    .filter((name) => !Object.hasOwn(rules, name))
    .flatMap((name) => judgeOther(answer, name, session))
}

function judgeOther(answer: Answer, name: string, session: Session): Finding[] {
  const values = headerValues(answer.headers, name)
  const rule = name === 'server' && session.proxied ? /^nginx/ : FREE[name]
  if (rule === undefined)
    return [{ expected: `no ${name}`, received: `${name}: ${shorten(values.join(', '))}` }]
  return judgeHeader(answer, name, rule)
}

function judgeId(request: Request, answer: Answer, session: Session): Finding[] {
  const received = headerValue(answer.headers, 'x-request-id')
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

/** The nonce in the policy of a page; undefined where the policy is another. */
export function nonceOf(answer: Answer): string | undefined {
  return PAGE_POLICY.exec(headerValue(answer.headers, 'content-security-policy') ?? '')?.[1]
}

function judgeNonce(answer: Answer, session: Session): Finding[] {
  const nonce = nonceOf(answer)
  if (nonce === undefined) return []
  if (session.nonces.has(nonce)) return [{ expected: 'a fresh nonce', received: `the nonce ${nonce} again` }]
  session.nonces.add(nonce)
  return []
}

function judgeBody(request: Request, answer: Answer, expected: Expectation): Finding[] {
  if (methodOf(request) === 'HEAD') return []
  if (expected.body !== undefined) return compareBytes(expected.body, answer.body)
  if (expected.inspect !== undefined) {
    const id = headerValue(answer.headers, 'x-request-id')
    return expected.inspect(answer.body, { id, nonce: nonceOf(answer) })
  }
  return answer.body.length === 0 ? [] : [{ expected: 'no body', received: `the body ${quote(answer.body)}` }]
}

/** Byte for byte; says where the first difference is. */
export function compareBytes(expected: Buffer, received: Buffer): Finding[] {
  if (expected.equals(received)) return []
  const at = expected.findIndex((byte, index) => byte !== received[index])
  const first = at === -1 ? expected.length : at
  return [
    {
      expected: `the body ${quote(expected.subarray(window(first)))} (${expected.length} bytes)`,
      received: `${quote(received.subarray(window(first)))} (${received.length} bytes), different from byte ${first} on`,
    },
  ]
}

/** Long bodies are shown from a little before the first difference. */
function window(first: number): number {
  return Math.max(0, first - 40)
}

function quote(bytes: Buffer): string {
  return `'${shorten(bytes.toString('utf8'))}'`
}
