import type { Connection } from '../../http/connection.ts'
import { describeRequest, type Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import { type Expectation, problemOf } from '../expectation.ts'
import { nonceOf } from '../judge.ts'
import type { Probe } from '../probe.ts'
import { routesOf, UNKNOWN_PATH } from '../route.ts'

/** Lines about HEAD. */
export const head: readonly Check[] = [
  {
    name: 'HEAD is GET without the body',
    section: 'Everything else',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) await compareHead(probe, { target }, expected)
    },
  },
  {
    name: 'HEAD of an error is its GET without the body',
    section: 'Everything else',
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

/** RFC 9110 section 9.3.2: HEAD may omit only headers that depend on creating the content, such as the framing. */
function compareHeaders(
  probe: Probe,
  request: Request,
  response: HttpResponse,
  headResponse: HttpResponse,
): void {
  const [expected, received] = [comparable(response), comparable(headResponse)]
  const names = new Set([...expected.keys(), ...received.keys()])
  for (const name of names) {
    const [want, got] = [expected.get(name), received.get(name)]
    if (want === got || (name === 'content-length' && got === undefined)) continue
    // Whether this type may be left out, `judge` has decided.
    if (name === 'content-type' && got === undefined) continue
    if (name === 'content-length' && want === undefined && got === String(response.body.length)) continue
    // NGINX does not decide about compression for HEAD.
    if (name === 'vary' && got === undefined && probe.subject.session.proxied) continue
    probe.report(request, { expected: `${show(name, want)}, as to GET`, received: show(name, got) })
  }
}

function show(name: string, value: string | undefined): string {
  return value === undefined ? `no ${name}` : `${name}: ${value}`
}

const DIFFERENT = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'transfer-encoding'])

function comparable(response: HttpResponse): Map<string, string> {
  const nonce = nonceOf(response) ?? 'no nonce'
  const entries = response.headers.map(
    ([name, value]) => [name.toLowerCase(), value.replace(nonce, 'NONCE')] as const,
  )
  return new Map(entries.filter(([name]) => !DIFFERENT.has(name)))
}
