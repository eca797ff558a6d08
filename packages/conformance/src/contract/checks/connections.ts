import { headerValue, methodOf, type Request, requestBytes } from '@startgrid/wire/request.ts'
import { authority } from '@startgrid/wire/target.ts'
import { document, type Expectation, otherMethod, problem } from '../expectation.ts'
import { differ } from '../finding.ts'
import type { Check, Probe } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

/** A request and the response that the contract wants. */
interface Step {
  request: Request
  expected: Expectation
}

/** Lines about connections. */
export const connections: readonly Check[] = [
  {
    name: 'a connection is usable after every kind of response',
    async run(probe) {
      const { target, expected: next } = plainRoute(probe)
      for (const { request, expected } of await mixedSteps(probe)) {
        await probe.connected(async (connection) => {
          const response = await probe.expect(request, expected, connection)
          if (response === undefined) return
          const closes = headerValue(response.headers, 'connection')?.toLowerCase() === 'close'
          if (!closes) await probe.expect({ target }, next, connection)
          else if (response.status === 200)
            probe.report(request, differ('a connection that stays open', 'connection: close'))
        })
      }
    },
  },
  {
    name: 'pipelined requests get their responses in order',
    async run(probe) {
      const host = authority(probe.subject.target)
      const steps = identified(await mixedSteps(probe), 20, 'pipelined').filter(
        // Bun closes the connection in the midst of a stream (https://github.com/oven-sh/bun/pull/38128), and while a response waits for a file.
        ({ request }) => !/^\/(?:stream|assets\/)/.test(request.target),
      )
      await probe.connected(async (connection) => {
        connection.send(Buffer.concat(steps.map(({ request }) => requestBytes(request, host))))
        for (const { request, expected } of steps) {
          const response = await probe.attempt(request, () => connection.response(methodOf(request)))
          if (response === undefined) return
          probe.judge(request, response, expected)
        }
      })
    },
  },
  {
    name: '100 requests at once are not mixed up',
    async run(probe) {
      const steps = identified(await mixedSteps(probe), 100, 'concurrent')
      await Promise.all(steps.map(({ request, expected }) => probe.expect(request, expected)))
    },
  },
]

/** All kinds of responses. */
async function mixedSteps(probe: Probe): Promise<Step[]> {
  const { target, expected } = plainRoute(probe)
  const routes = await routesOf(probe)
  if (probe.subject.role === 'ssr') routes.push({ target: '/?items=0', expected: document(0) })
  return [
    ...routes.map((route) => ({ request: { target: route.target }, expected: route.expected })),
    { request: { method: 'HEAD', target }, expected },
    { request: { target: UNKNOWN_PATH }, expected: problem(404) },
    { request: { method: 'HEAD', target: UNKNOWN_PATH }, expected: problem(404) },
    { request: { method: 'POST', target }, expected: otherMethod() },
    { request: { method: 'DELETE', target: UNKNOWN_PATH }, expected: otherMethod() },
    { request: { target, body: '' }, expected },
  ]
}

/** So many of the steps, over and over, each with an id by which its response is recognised. */
function identified(steps: readonly Step[], count: number, name: string): Step[] {
  const repeated = Array.from({ length: Math.ceil(count / steps.length) }, () => steps).flat()
  return repeated.slice(0, count).map(({ request, expected }, index) => {
    return { request: { ...request, headers: [['x-request-id', `${name}-${index}`]] }, expected }
  })
}
