import type { Response } from '@startgrid/wire/reader.ts'
import { headerValue, headerValues, methodOf, type Request } from '@startgrid/wire/request.ts'
import type { Expectation } from './expectation.ts'
import { differ, type Finding, quote, shorten } from './finding.ts'
import { judgePolicy, nonceOf } from './markup.ts'

/** Values that must be unique while one server is checked. */
export interface Session {
  /** Over TLS, where the server may ask for TLS in the future (RFC 6797 section 7.2). */
  readonly secure: boolean
  readonly ids: Set<string>
  readonly nonces: Set<string>
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/

/** On every response, beside the policy. */
const SECURITY_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Compares a response with the contract: syntax, status, headers, body. What holds for all responses is checked here, so that no check can
 * forget it.
 * @param expected several if the contract allows several; the first with the status of the response applies
 */
export function judge(
  request: Request,
  response: Response,
  expected: Expectation | readonly Expectation[],
  session: Session,
): Finding[] {
  const choices = [expected].flat()
  const choice = choices.find(({ statuses }) => statuses.includes(response.status))
  const faults = response.faults.flatMap((fault) => differ('a response in correct syntax', fault))
  if (choice === undefined) return [...faults, ...wrongStatus(response, choices)]
  if (choice.statusOnly) return faults
  return [
    ...faults,
    ...judgeHeaders(response, choice, session),
    ...judgePolicy(response, choice.policy ?? 'plain'),
    ...judgeType(request, response, choice.type),
    ...judgeId(request, response, session),
    ...(choice.policy === 'page' ? judgeNonce(response, session) : []),
    ...(methodOf(request) === 'HEAD' ? [] : (choice.body?.(response) ?? [])),
  ]
}

function wrongStatus(response: Response, choices: readonly Expectation[]): Finding[] {
  const body = response.body.length === 0 ? '' : ` with the body ${quote(response.body)}`
  const statuses = [...new Set(choices.flatMap((choice) => choice.statuses))]
  return differ(`status ${statuses.join(' or ')}`, `status ${response.status}${body}`)
}

/** At least those of the contract. Others may be there, but not these two. */
function judgeHeaders(response: Response, { headers }: Expectation, { secure }: Session): Finding[] {
  const forbidden = ['x-powered-by', ...(secure ? [] : ['strict-transport-security'])]
  return [
    ...Object.entries({ ...SECURITY_HEADERS, ...headers }).flatMap(([name, rule]) =>
      judgeHeader(response, name, rule),
    ),
    ...forbidden
      .flatMap((name) => headerValues(response.headers, name).map((value) => `${name}: ${value}`))
      .flatMap((received) => differ('no such header', received)),
  ]
}

function judgeHeader(response: Response, name: string, rule: string | RegExp): Finding[] {
  const values = headerValues(response.headers, name)
  const expected = `${name}: ${typeof rule === 'string' ? rule : rule.source}`
  const [value] = values
  if (value === undefined) return differ(expected, `no ${name}`)
  if (values.length > 1) return differ(`${expected} (once)`, `${name} ${values.length} times`)
  if (typeof rule === 'string' ? value === rule : rule.test(value)) return []
  return differ(expected, `${name}: ${shorten(value, 300)}`)
}

/** RFC 9110 section 8.3.1: type and parameter names have no case, and neither has a charset. HEAD may leave the type out. */
function judgeType(request: Request, response: Response, expected: string | undefined): Finding[] {
  if (expected === undefined) return []
  const values = headerValues(response.headers, 'content-type')
  const wanted = `content-type: ${expected}`
  if (values.length > 1) return differ(wanted, `content-type ${values.length} times`)
  const [value] = values
  if (value === undefined) return methodOf(request) === 'HEAD' ? [] : differ(wanted, 'no content-type')
  return parseType(value) === parseType(expected) ? [] : differ(wanted, `content-type: ${value}`)
}

/**
 * Lower case, no spaces around the separators, and no charset where it changes nothing: JSON has none (RFC 8259 section 11), scripts and
 * styles have that of their page, an SVG declares its own. `application/javascript` is the older name (RFC 9239), and a health check may have
 * the type of its draft.
 */
function parseType(value: string): string {
  const [name = '', ...parameters] = value.toLowerCase().split(/ *; */)
  const type = name.replace('application/javascript', 'text/javascript').replace('health+json', 'json')
  const charset = /^(?:application\/(?:.*\+)?json|text\/(?:javascript|css)|image\/svg\+xml)$/.test(type)
    ? 'charset=utf-8'
    : ''
  return [type.trim(), ...parameters.filter((parameter) => parameter !== charset)].join('; ')
}

/** A valid id is kept. Without one, the response has a fresh one. */
function judgeId(request: Request, response: Response, session: Session): Finding[] {
  const received = headerValue(response.headers, 'x-request-id')
  const expected = 'x-request-id (once): 1 to 64 characters from A-Za-z0-9_-'
  if (received === undefined) return differ(expected, 'none, or several')
  const told = `x-request-id: ${received}`
  if (!REQUEST_ID.test(received)) return differ(expected, told)
  const sent = headerValue(request.headers ?? [], 'x-request-id')
  if (sent !== undefined && REQUEST_ID.test(sent))
    return received === sent ? [] : differ(`x-request-id: ${sent}`, told)
  if (sent?.includes(received)) return differ('a fresh x-request-id for one that is not valid', told)
  if (session.ids.has(received)) return differ('a fresh x-request-id', `${received} again`)
  session.ids.add(received)
  return []
}

function judgeNonce(response: Response, session: Session): Finding[] {
  const nonce = nonceOf(response)
  if (nonce === undefined) return []
  if (session.nonces.has(nonce)) return differ('a fresh nonce', `the nonce ${nonce} again`)
  session.nonces.add(nonce)
  return []
}
