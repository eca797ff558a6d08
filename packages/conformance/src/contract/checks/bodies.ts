import type { Connection } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import { headerValue, type Request } from '@startgrid/wire/request.ts'
import { type Expectation, otherMethod, refused } from '../expectation.ts'
import { describeRequest, differ } from '../finding.ts'
import { type Check, GaveUp, type Probe } from '../probe.ts'
import { plainRoute, UNKNOWN_PATH } from '../route.ts'

/** Bytes of a body. More is 413 if a handler reads it. */
const BODY_LIMIT = 65_536

/** More than streams in front of a handler hold. If nobody reads the rest, it stays in the socket, and no next request is seen. */
const BEYOND_BUFFERS = 4 * BODY_LIMIT

/** What a framework does with a body that no route reads is its own, as long as it is a 4xx. */
const UNREAD = refused(400, 413, 415)

/** Lines about request bodies that no route reads. */
export const bodies: readonly Check[] = [
  {
    name: 'a body on GET is ignored or refused',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      for (const type of ['application/json', 'application/x-www-form-urlencoded'])
        await probe.expect({ target, headers: [['content-type', type]], body: '{"a":' }, [expected, UNREAD])
      await probe.expect({ target, body: '' }, expected)
      await probe.expect(chunkedRequest({ target }, 5), [expected, UNREAD])
    },
  },
  {
    name: 'a body of exactly the limit is not too large',
    async run(probe) {
      const body = Buffer.alloc(BODY_LIMIT, 'a')
      const { target, expected } = plainRoute(probe)
      const small = refused(400, 415)
      await probe.expect({ target, body }, [expected, small])
      await probe.expect({ method: 'POST', target, body }, [otherMethod(), small])
      await probe.expect({ method: 'POST', target: UNKNOWN_PATH, body }, [otherMethod(), small])
    },
  },
  {
    name: 'a body over the limit is refused or left unread, and is no request',
    async run(probe) {
      for (const [request, expected] of unread(probe)) {
        const body = smuggling(BODY_LIMIT + 1)
        const part = body.subarray(0, 1000)
        const rest = body.subarray(1000)
        const headers = [['content-length', String(BODY_LIMIT + 1)] as const]
        await expectLarge(probe, { ...request, headers, body: part }, rest, expected)
      }
    },
  },
  {
    name: 'a chunked body over the limit is refused or left unread, and is no request',
    async run(probe) {
      for (const [request, expected] of unread(probe))
        for (const length of [BODY_LIMIT + 5000, BEYOND_BUFFERS]) {
          const chunked = chunkedRequest(request, length)
          // A parser of JSON reads before the route does, and may stop in the middle.
          const headers = [...(chunked.headers ?? []), ['content-type', 'application/json'] as const]
          for (const large of [chunked, { ...chunked, headers }])
            await expectLarge(probe, large, Buffer.alloc(0), expected)
        }
    },
  },
]

/** A body that a server could mistake for requests. */
function smuggling(length: number): Buffer {
  return Buffer.alloc(length, 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')
}

/** Requests whose body no route reads, with what they get without it. */
function unread(probe: Probe): [Request, Expectation][] {
  const { target, expected } = plainRoute(probe)
  return [
    [{ target }, expected],
    [{ method: 'POST', target }, otherMethod()],
    [{ method: 'POST', target: UNKNOWN_PATH }, otherMethod()],
  ]
}

/** Sends a body, or the first part of it; afterwards the connection is closed or usable. */
async function expectLarge(
  probe: Probe,
  request: Request,
  rest: Buffer,
  expected: Expectation,
): Promise<void> {
  await probe.attempt(request, () =>
    probe.despiteReset(() =>
      probe.connected(async (connection) => {
        const response = await connection.exchange(request)
        probe.judge(request, response, [expected, UNREAD])
        if (headerValue(response.headers, 'connection')?.toLowerCase() !== 'close')
          await continueAfter(probe, request, connection, rest)
      }),
    ),
  )
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
    connection.send(rest)
    probe.judge({ target }, await connection.exchange({ target }), expected)
  } catch (error) {
    const closed = error instanceof NoResponse && (error.failure === 'closed' || error.failure === 'reset')
    if (closed) return
    if (!(error instanceof NoResponse) || error.failure === 'aborted') throw error
    const findings = differ('a closed or usable connection', error.message)
    probe.report(`GET after ${describeRequest(request)}`, findings)
    if (error.failure === 'timeout') throw new GaveUp()
  }
}

/** A body of so many bytes, in one chunk. */
function chunkedRequest(request: Request, length: number): Request {
  const body = Buffer.concat([
    Buffer.from(`${length.toString(16)}\r\n`),
    smuggling(length),
    Buffer.from('\r\n0\r\n\r\n'),
  ])
  return { ...request, headers: [['transfer-encoding', 'chunked']], body }
}
