import { chunked } from '../../http/chunked.ts'
import type { Connection } from '../../http/connection.ts'
import { headerValue } from '../../http/header.ts'
import { describeRequest, type Request } from '../../http/request.ts'
import { NoResponse } from '../../http/source.ts'
import type { Check } from '../check.ts'
import { type Expectation, otherMethod, problemOf, refused, unknownPath, unreadBody } from '../expectation.ts'
import { GaveUp, type Probe } from '../probe.ts'
import { plainRoute, UNKNOWN_PATH } from '../route.ts'

/** Bytes of a body. More is 413 if a handler reads it. */
const BODY_LIMIT = 65_536

/** More than streams in front of a handler hold. If nobody reads the rest, it stays in the socket, and no next request is seen. */
const BEYOND_BUFFERS = 4 * BODY_LIMIT

/** Lines about the size of request bodies that no route reads. */
export const bodies: readonly Check[] = [
  {
    name: 'a body over the limit is refused or left unread',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const get = [expected, ...refusals()]
      const post = [...otherMethod(), ...refusals()]
      const unknown = [...unknownPath('POST'), ...refusals()]
      for (const method of ['GET', 'HEAD']) await expectLarge(probe, { method, target }, BODY_LIMIT + 1, get)
      for (const method of ['POST', 'PUT', 'DELETE'])
        await expectLarge(probe, { method, target }, BODY_LIMIT + 1, post)
      for (const method of ['GET', 'POST', 'DELETE'])
        await expectLarge(probe, { method, target: UNKNOWN_PATH }, BODY_LIMIT + 1, unknown)
      await expectLarge(probe, { method: 'POST', target }, 10 * BODY_LIMIT, post)
      await expectLarge(probe, { method: 'POST', target }, 10_000_000_000, post)
    },
  },
  {
    name: 'a body of exactly the limit is not too large',
    async run(probe) {
      const body = Buffer.alloc(BODY_LIMIT, 'a')
      const { target, expected } = plainRoute(probe)
      const small = [problemOf(400), problemOf(415)]
      await probe.expect({ target, body }, [expected, ...small])
      await probe.expect({ method: 'POST', target, body }, [...otherMethod(), ...small])
      await probe.expect({ method: 'POST', target: UNKNOWN_PATH, body }, [...unknownPath('POST'), ...small])
    },
  },
  {
    name: 'a body on GET is ignored or refused',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const choices = [expected, ...refusals()]
      const types = ['application/json', 'application/x-www-form-urlencoded', 'application/x-nobody-knows']
      for (const type of types) {
        await probe.expect({ target, headers: [['content-type', type]], body: '{"a":' }, choices)
      }
      await probe.expect({ target, body: '' }, expected)
      await probe.expect(chunkedRequest({ target }, 5), choices)
    },
  },
  {
    name: 'a chunked body over the limit is refused or left unread',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      await expectChunked(probe, { target }, [expected])
      await expectChunked(probe, { method: 'POST', target }, otherMethod())
      await expectChunked(probe, { method: 'POST', target: UNKNOWN_PATH }, unknownPath('POST'))
    },
  },
]

/** The body is refused by the app or by the wrapper around the server. */
function refusals(): Expectation[] {
  return [...unreadBody(), refused(413)]
}

/** Declares a body and sends a little of it; afterwards the connection is closed or usable. */
async function expectLarge(
  probe: Probe,
  request: Request,
  length: number,
  expected: readonly Expectation[],
): Promise<void> {
  const part = Buffer.alloc(1000, 'a')
  const whole: Request = { ...request, headers: [['content-length', String(length)]], body: part }
  await probe.attempt(whole, () =>
    probe.despiteReset(() =>
      probe.connected(async (connection) => {
        const response = await connection.exchange(whole)
        probe.judge(whole, response, expected)
        const closes = headerValue(response.headers, 'connection')?.toLowerCase() === 'close'
        const rest = length - part.length
        if (!closes && rest < 10 * BODY_LIMIT)
          await continueAfter(probe, whole, connection, Buffer.alloc(rest, 'a'))
      }),
    ),
  )
}

async function expectChunked(
  probe: Probe,
  request: Request,
  expected: readonly Expectation[],
): Promise<void> {
  for (const length of [BODY_LIMIT + 5000, BEYOND_BUFFERS]) {
    const large = chunkedRequest(request, length)
    await probe.attempt(large, () =>
      probe.despiteReset(() =>
        probe.connected(async (connection) => {
          probe.judge(large, await connection.exchange(large), [...expected, ...unreadBody()])
          await continueAfter(probe, large, connection, Buffer.alloc(0))
        }),
      ),
    )
  }
}

/** A server may close the connection while a body is in flight. If it continues, it must not parse the body as a request. */
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
    const closed = error instanceof NoResponse && (error.failure === 'closed' || error.failure === 'reset')
    if (closed) return
    if (!(error instanceof NoResponse) || error.failure === 'aborted') throw error
    const findings = [{ expected: 'a closed or usable connection', received: error.message }]
    probe.report(`GET after ${describeRequest(request)}`, ...findings)
    if (error.failure === 'timeout') throw new GaveUp()
  }
}

function chunkedRequest(request: Request, length: number): Request {
  return { ...request, headers: [['transfer-encoding', 'chunked']], body: chunked(Buffer.alloc(length, 'a')) }
}
