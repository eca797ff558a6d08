import type { Connection } from '../../http/connection.ts'
import { headerValue } from '../../http/header.ts'
import { describeRequest, type Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import { type Expectation, problemOf } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { routesOf, UNKNOWN_PATH } from '../route.ts'

/** Lines about HEAD. */
export const head: readonly Check[] = [
  {
    name: 'HEAD is GET without the body',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) await compareHead(probe, { target }, expected)
    },
  },
  {
    name: 'HEAD of an error is its GET without the body',
    async run(probe) {
      await compareHead(probe, { target: UNKNOWN_PATH }, problemOf(404))
      if (probe.subject.role === 'ssr') await compareHead(probe, { target: '/?items=x' }, problemOf(400))
    },
  },
]

/** GET and HEAD on one connection, then a GET that shows whether the response to HEAD really had no body. */
async function compareHead(
  probe: Probe,
  request: Request,
  expected: Expectation | readonly Expectation[],
): Promise<void> {
  const headRequest = { ...request, method: 'HEAD' }
  await probe.connected(async (connection: Connection) => {
    const response = await probe.expect(request, expected, connection)
    const headResponse = await probe.expect(headRequest, expected, connection)
    if (response === undefined || headResponse === undefined) return
    compareHeaders(probe, headRequest, response, headResponse)
    await probe.attempt(`GET after ${describeRequest(headRequest)}`, () => connection.exchange(request))
  })
}

/** RFC 9110 section 9.3.2: HEAD may omit headers. Those that must be there, `judge` has asked for. */
function compareHeaders(
  probe: Probe,
  request: Request,
  response: HttpResponse,
  headResponse: HttpResponse,
): void {
  for (const name of ['cache-control', 'content-length', 'content-type', 'etag']) {
    const received = headerValue(headResponse.headers, name)
    // A GET may come in chunks.
    const length = name === 'content-length' ? String(response.body.length) : undefined
    const expected = headerValue(response.headers, name) ?? length
    if (received === undefined || received === expected) continue
    probe.report(request, { expected: `${name}: ${expected}, as to GET`, received: `${name}: ${received}` })
  }
}
