import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { type AskOptions, ask } from '../clients/ask.ts'
import { LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'

/** Bytes, of docs/contract.md. */
const BODY_LIMIT = 65_536
const HEADER_LIMIT = 16_384

/** More than the contract allows is refused with the right status. */
export const limits: Fault = {
  name: 'limits',
  summary:
    'bodies, headers and queries over the limits, directly and behind NGINX: 413, 431 or 400, and the next request is served',
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
  readonly path: string
  readonly options?: AskOptions
  /** Right statuses; `closed` where a server may close while the client still sends (RFC 9112 section 9.6). */
  readonly right: readonly (number | string)[]
}

/** Requests that are too large in every way. @param path of a GET route, so that 404 and 405 apply to a body as well */
export function oversizedRequests(path: string): Oversized[] {
  const body = 'a'.repeat(4 * BODY_LIMIT)
  const chunked = { 'transfer-encoding': 'chunked' }
  return [
    {
      what: 'a body over the limit',
      path,
      options: { method: 'POST', body },
      right: [404, 405, 413, 'closed'],
    },
    {
      what: 'a body of a terabyte, announced',
      path,
      options: { method: 'POST', headers: { 'content-length': '1000000000000' }, body: 'a' },
      right: [404, 405, 413],
    },
    {
      what: 'a chunked body over the limit',
      path,
      options: { method: 'POST', headers: chunked, body },
      right: [404, 405, 413, 'closed'],
    },
    {
      what: 'a header over the limit',
      path,
      options: { headers: { 'x-large': 'a'.repeat(4 * HEADER_LIMIT) } },
      right: [431, 'closed'],
    },
    {
      what: '10,000 query parameters, over the limit of the header',
      path: `${path}?${'a=1&'.repeat(10_000)}`,
      right: [414, 431, 'closed'],
    },
    { what: '7,500 query parameters, below it', path: `${path}?${'a&'.repeat(7_500)}`, right: [200, 400] },
  ]
}

/** Sends each of the requests, and a small one after it. */
async function judgeLimits(where: string, target: Target, requests: readonly Oversized[]): Promise<string[]> {
  const findings: string[] = []
  for (const { what, path, options, right } of requests) {
    const { status, error = '' } = await ask(target, path, options)
    const given = status ?? (/^(ECONNRESET|EPIPE)$/.test(error) ? 'closed' : error)
    if (!right.includes(given)) findings.push(`${where}, ${what}: ${given}, not ${right.join(' or ')}.`)
    const next = await ask(target, '/livez')
    if (next.status !== 200) findings.push(`${where}, after ${what}, /livez is ${next.status ?? next.error}.`)
  }
  return findings
}
