import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { ask, isCut, outcomeOf } from '../clients/ask.ts'
import { LIGHT } from '../clients/clients.ts'
import type { Fault } from '../subject.ts'

/** Bytes, of docs/contract.md. */
const BODY_LIMIT = 65_536
const HEADER_LIMIT = 16_384

/** More than the contract allows is refused with the right status. */
export const limits: Fault = {
  name: 'limits',
  atOnce: 4,
  async run(subject) {
    const { target } = await subject.launch({ env: NEVER_SHED })
    const oversized = oversizedRequests(LIGHT[subject.app.role])
    return [
      ...(await judgeLimits('Directly', target, oversized)),
      ...(await judgeLimits('Behind NGINX', await subject.front(target), oversized)),
    ]
  },
}

/** A request that is too large in some way. */
export interface Oversized {
  readonly what: string
  readonly request: Request
  /** Right statuses; `closed` where a server may close while the client still sends (RFC 9112 section 9.6). */
  readonly right: readonly (number | string)[]
}

/** Requests that are too large in every way. @param target of a GET route, so that 404 and 405 apply to a body as well */
export function oversizedRequests(target: string): Oversized[] {
  const body = 'a'.repeat(4 * BODY_LIMIT)
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const post = { method: 'POST', target }
  return [
    { what: 'a body over the limit', request: { ...post, body }, right: [404, 405, 413, 'closed'] },
    {
      what: 'a body of a terabyte, announced',
      request: { ...post, headers: [['content-length', '1000000000000']], body: 'a' },
      right: [404, 405, 413],
    },
    {
      what: 'a chunked body over the limit',
      request: { ...post, headers: [['transfer-encoding', 'chunked']], body: chunks },
      right: [404, 405, 413, 'closed'],
    },
    {
      what: 'a header over the limit',
      request: { target, headers: [['x-large', 'a'.repeat(4 * HEADER_LIMIT)]] },
      right: [431, 'closed'],
    },
    {
      what: '10,000 query parameters, over the limit of the header',
      request: { target: `${target}?${'a=1&'.repeat(10_000)}` },
      right: [414, 431, 'closed'],
    },
    {
      what: '7,500 query parameters, below it',
      request: { target: `${target}?${'a&'.repeat(7_500)}` },
      right: [200, 400],
    },
  ]
}

/** Sends each of the requests, and a small one after it. */
async function judgeLimits(where: string, target: Target, requests: readonly Oversized[]): Promise<string[]> {
  const findings: string[] = []
  for (const { what, request, right } of requests) {
    const seen = await ask(target, request)
    const given = seen.status ?? (isCut(seen.error) ? 'closed' : outcomeOf(seen))
    if (!right.includes(given)) findings.push(`${where}, ${what}: ${given}, not ${right.join(' or ')}.`)
    const next = await ask(target, '/livez')
    if (next.status !== 200) findings.push(`${where}, after ${what}, /livez is ${outcomeOf(next)}.`)
  }
  return findings
}
