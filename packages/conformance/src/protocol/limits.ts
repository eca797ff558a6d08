import { BODY_LIMIT, HEADER_LIMIT } from '@startgrid/shared/http/validate-request.ts'
import { type Connection, openConnection } from '../http/connection.ts'
import type { Request } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { NoResponse } from '../http/source.ts'
import type { Target } from '../http/target.ts'

/** A status, or how the connection ended without one. */
type Given = HttpResponse['status'] | NoResponse['failure']

/** A request that is too large in some way. */
export interface Oversized {
  readonly what: string
  readonly request: Request
  /** Right outcomes; `closed` where a server may close while the client still sends. */
  readonly right: readonly Given[]
}

/** Requests that are too large in every way. @param path of a GET route */
export function oversizedRequests(path: string): Oversized[] {
  const body = Buffer.alloc(4 * BODY_LIMIT, 'a')
  const chunked = [['transfer-encoding', 'chunked']] as const
  return [
    {
      what: 'a body over the limit',
      request: { method: 'POST', target: path, body },
      // No route takes it either: any status that applies is right.
      right: [404, 405, 413, 'closed'],
    },
    {
      what: 'a body of a terabyte, announced',
      request: { method: 'POST', target: path, headers: [['content-length', '1000000000000']], body: 'a' },
      right: [404, 405, 413],
    },
    {
      what: 'a chunked body over the limit, which nothing reads',
      request: { method: 'POST', target: path, headers: chunked, body: chunksOf(body) },
      right: [404, 405, 413, 'closed'],
    },
    {
      what: 'a header over the limit',
      request: { target: path, headers: [['x-large', 'a'.repeat(4 * HEADER_LIMIT)]] },
      right: [431, 'closed'],
    },
    {
      what: '10,000 query parameters, over the limit of the header',
      request: { target: `${path}?${'a=1&'.repeat(10_000)}` },
      right: [414, 431, 'closed'],
    },
    {
      what: '7,500 query parameters, below it',
      request: { target: `${path}?${'a&'.repeat(7_500)}` },
      right: [200, 400],
    },
  ]
}

/** In chunks of 16 KiB. */
function chunksOf(body: Buffer): Buffer {
  const size = 16_384
  const chunk = Buffer.concat([
    Buffer.from(`${size.toString(16)}\r\n`),
    body.subarray(0, size),
    Buffer.from('\r\n'),
  ])
  const chunks = Array.from({ length: body.length / size }, () => chunk)
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

/** Sends each of the requests, and a small one after it. @returns a sentence for each wrong response */
export async function checkLimits(target: Target, requests: readonly Oversized[]): Promise<string[]> {
  const findings: string[] = []
  for (const { what, request, right } of requests) {
    const given = await send(target, request)
    if (!right.includes(given)) findings.push(`${what}: ${given}, not ${right.join(' or ')}.`)
    const next = await send(target, { target: '/livez' })
    if (next !== 200) findings.push(`After ${what}, /livez is ${next}.`)
  }
  return findings
}

async function send(target: Target, request: Request): Promise<Given> {
  let connection: Connection | undefined
  try {
    connection = await openConnection(target, { timeoutMs: 30_000 })
    return (await connection.exchange(request)).status
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    // A server that closes with unread bytes resets the connection (RFC 9112 section 9.6).
    return error.failure === 'reset' ? 'closed' : error.failure
  } finally {
    connection?.destroy()
  }
}
