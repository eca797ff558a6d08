import { BODY_LIMIT } from '@startgrid/shared/http/contract.ts'
import { chunked } from '../../http/chunked.ts'
import type { Connection } from '../../http/connection.ts'
import { headerValue } from '../../http/header.ts'
import { describeRequest, type Request } from '../../http/request.ts'
import { NoAnswer } from '../../http/source.ts'
import type { Check } from '../check.ts'
import { methodNotAllowed, problemOf } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute, type Route, UNKNOWN_PATH } from '../route.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']

/** Lines about the size of request bodies. */
export const bodies: readonly Check[] = [
  {
    name: 'a content-length over the limit is 413',
    section: 'Everything else',
    async run(probe) {
      const { target } = plainRoute(probe)
      for (const method of METHODS) await expectTooLarge(probe, { method, target }, BODY_LIMIT + 1)
      await expectTooLarge(probe, { method: 'POST', target }, 10 * BODY_LIMIT)
      await expectTooLarge(probe, { method: 'POST', target }, 10_000_000_000)
    },
  },
  {
    name: '413 precedes 404',
    section: 'Everything else',
    async run(probe) {
      for (const method of METHODS)
        await expectTooLarge(probe, { method, target: UNKNOWN_PATH }, BODY_LIMIT + 1)
    },
  },
  {
    name: '400 precedes 413',
    section: 'Everything else',
    async run(probe) {
      const request: Request = {
        method: 'POST',
        target: '/%zz',
        headers: [['content-length', String(BODY_LIMIT + 1)]],
      }
      await probe.attempt(request, () =>
        probe.despiteReset(async () => {
          const answer = await probe.connected((connection) => connection.exchange(request))
          const { proxied } = probe.subject.session
          probe.judge(request, answer, { ...problemOf(400), ...(proxied ? { statusOnly: true } : {}) })
        }),
      )
    },
  },
  {
    name: 'a body of exactly the limit is not too large',
    section: 'Everything else',
    async run(probe) {
      const body = Buffer.alloc(BODY_LIMIT, 'a')
      const { target, expected } = plainRoute(probe)
      await probe.expect({ target, body }, expected)
      await probe.expect({ method: 'POST', target, body }, methodNotAllowed())
      await probe.expect({ method: 'POST', target: UNKNOWN_PATH, body }, problemOf(404))
    },
  },
  {
    name: 'a body on GET is ignored',
    section: 'Everything else',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const types = ['application/json', 'application/x-www-form-urlencoded', 'application/x-nobody-knows']
      for (const type of types) {
        await probe.expect({ target, headers: [['content-type', type]], body: '{"a":' }, expected)
      }
      await probe.expect({ target, body: '' }, expected)
      await probe.expect(chunkedRequest({ target }, 5), expected)
    },
  },
  {
    name: 'a chunked body over the limit is 413 or the answer of the route',
    section: 'Everything else',
    async run(probe) {
      const route = plainRoute(probe)
      await expectChunked(probe, { target: route.target }, route.expected)
      await expectChunked(probe, { method: 'POST', target: route.target }, methodNotAllowed())
      await expectChunked(probe, { method: 'POST', target: UNKNOWN_PATH }, problemOf(404))
    },
  },
]

/** Declares a body, sends a little of it, and wants 413; afterwards the connection is closed or usable. */
async function expectTooLarge(probe: Probe, request: Request, length: number): Promise<void> {
  const part = Buffer.alloc(1000, 'a')
  const whole: Request = { ...request, headers: [['content-length', String(length)]], body: part }
  await probe.attempt(whole, () =>
    probe.despiteReset(() =>
      probe.connected(async (connection) => {
        const answer = await connection.exchange(whole)
        probe.judge(whole, answer, problemOf(413))
        const closes = headerValue(answer.headers, 'connection')?.toLowerCase() === 'close'
        const rest = length - part.length
        if (!closes && rest < 10 * BODY_LIMIT)
          await continueAfter(probe, whole, connection, Buffer.alloc(rest, 'a'))
      }),
    ),
  )
}

async function expectChunked(probe: Probe, request: Request, expected: Route['expected']): Promise<void> {
  const large = chunkedRequest(request, BODY_LIMIT + 5000)
  await probe.attempt(large, () =>
    probe.despiteReset(() =>
      probe.connected(async (connection) => {
        probe.judge(large, await connection.exchange(large), [expected, problemOf(413)])
        await continueAfter(probe, large, connection, Buffer.alloc(0))
      }),
    ),
  )
}

/** A server may close while a body is in flight; if it goes on, it must not take the body for a request. */
async function continueAfter(
  probe: Probe,
  request: Request,
  connection: Connection,
  rest: Buffer,
): Promise<void> {
  const { target, expected } = plainRoute(probe)
  try {
    await connection.send(rest)
    probe.judge({ target }, await connection.exchange({ target }), expected)
  } catch (error) {
    const closed = error instanceof NoAnswer && (error.failure === 'closed' || error.failure === 'reset')
    if (closed) return
    if (!(error instanceof NoAnswer) || error.failure === 'aborted') throw error
    const findings = [{ expected: 'a closed or usable connection', received: error.message }]
    probe.report(`GET after ${describeRequest(request)}`, findings)
  }
}

function chunkedRequest(request: Request, length: number): Request {
  return { ...request, headers: [['transfer-encoding', 'chunked']], body: chunked(Buffer.alloc(length, 'a')) }
}
