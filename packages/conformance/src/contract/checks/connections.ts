import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../http/connection.ts'
import { headerValue } from '../../http/header.ts'
import { methodOf, type Request, requestBytes } from '../../http/request.ts'
import { authority } from '../../http/target.ts'
import type { Check } from '../check.ts'
import { type Expectation, optionsOfGet, otherMethod, problemOf, unreadBody } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

/** A request and the responses that the contract allows. */
interface Step {
  request: Request
  expected: Expectation | readonly Expectation[]
}

/** Long enough for a server on this machine to read one part before the next is sent. */
const PAUSE_MS = 1

/** On a busy machine pauses are long, and servers allow 10 s for a head: what is left after this time comes in one piece. */
const PIECES_MS = 3000

/** Lines about connections. */
export const connections: readonly Check[] = [
  {
    name: 'a connection serves 50 requests',
    async run(probe) {
      const steps = await mixedSteps(probe)
      await probe.connected(async (connection) => {
        for (const { request, expected } of cycle(steps, 50))
          await probe.expect(request, expected, connection)
      })
    },
  },
  {
    name: 'a connection is usable after every kind of response',
    async run(probe) {
      for (const step of await mixedSteps(probe)) await expectUsableAfter(probe, step)
    },
  },
  {
    name: 'pipelined requests get their responses in order',
    async run(probe) {
      const steps = (await mixedSteps(probe)).filter((step) => !isStream(step))
      await pipeline(probe, cycle(steps, 20))
    },
  },
  {
    name: 'requests behind a stream get their responses after it',
    roles: ['ssr'],
    needs: ['stream', 'pipelined-stream'],
    async run(probe) {
      const streams = (await mixedSteps(probe)).filter(isStream)
      const { target, expected } = plainRoute(probe)
      await pipeline(probe, [
        ...streams,
        { request: { target }, expected },
        ...streams,
        { request: { target }, expected },
      ])
    },
  },
  {
    name: 'a request may arrive byte by byte',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const get = { request: { target, headers: [['x-request-id', 'byte-by-byte'] as const] }, expected }
      const post = {
        request: { method: 'POST', target, body: '{"a":1}' },
        expected: [...otherMethod(), ...unreadBody()],
      }
      for (const step of [get, post]) await sendInPieces(probe, step, (bytes) => [...bytes.keys()].slice(1))
    },
  },
  {
    name: 'a request may be split anywhere',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const request = { target }
      const { length } = requestBytes(request, authority(probe.subject.target))
      await probe.connected(async (connection) => {
        for (let at = 1; at < length; at += 1)
          await sendInPieces(probe, { request, expected }, () => [at], connection)
      })
    },
  },
  {
    name: 'connection: close is honoured',
    async run(probe) {
      const close = [['connection', 'close'] as const]
      for (const { target, expected } of await routesOf(probe)) {
        await expectClosedAfter(probe, { request: { target, headers: close }, expected })
      }
      await expectClosedAfter(probe, {
        request: { target: UNKNOWN_PATH, headers: close },
        expected: problemOf(404),
      })
    },
  },
  {
    name: 'HTTP/1.0 gets a response and a close, with and without Host',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) {
        await expectClosedAfter(probe, { request: { target, version: '1.0' }, expected })
        await expectClosedAfter(probe, { request: { target, version: '1.0', host: null }, expected })
      }
    },
  },
  {
    name: 'Expect: 100-continue gets a response',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const steps: Step[] = [
        { request: { target }, expected: [expected, ...unreadBody()] },
        { request: { method: 'POST', target }, expected: [...otherMethod(), ...unreadBody()] },
        { request: { method: 'POST', target: UNKNOWN_PATH }, expected: [problemOf(404), ...unreadBody()] },
      ]
      for (const step of steps) await expectContinue(probe, step)
    },
  },
  {
    name: '100 requests at once are not mixed up',
    async run(probe) {
      const steps = cycle(await mixedSteps(probe), 100).map((step, index) =>
        identified(step, `concurrent-${index}`),
      )
      await Promise.all(steps.map(({ request, expected }) => probe.expect(request, expected)))
    },
  },
]

function isStream({ expected }: Step): boolean {
  return [expected].flat().some(({ streamed }) => streamed)
}

/** All kinds of responses that keep the connection open. */
async function mixedSteps(probe: Probe): Promise<Step[]> {
  const routes = await routesOf(probe)
  const { target, expected } = plainRoute(probe)
  const gets = routes.map((route) => ({ request: { target: route.target }, expected: route.expected }))
  return [
    ...gets,
    { request: { method: 'HEAD', target }, expected },
    { request: { target: UNKNOWN_PATH }, expected: problemOf(404) },
    { request: { method: 'HEAD', target: UNKNOWN_PATH }, expected: problemOf(404) },
    { request: { method: 'POST', target }, expected: otherMethod() },
    { request: { method: 'DELETE', target: UNKNOWN_PATH }, expected: problemOf(404) },
    { request: { method: 'OPTIONS', target }, expected: optionsOfGet() },
    { request: { target, body: '' }, expected },
    ...(probe.subject.role === 'ssr' ? [{ request: { target: '/?items=x' }, expected: problemOf(400) }] : []),
  ]
}

function cycle(steps: readonly Step[], count: number): Step[] {
  return Array.from({ length: Math.ceil(count / steps.length) }, () => steps)
    .flat()
    .slice(0, count)
}

function identified({ request, expected }: Step, id: string): Step {
  return { request: { ...request, headers: [...(request.headers ?? []), ['x-request-id', id]] }, expected }
}

async function expectUsableAfter(probe: Probe, { request, expected }: Step): Promise<void> {
  const { target, expected: next } = plainRoute(probe)
  await probe.connected(async (connection) => {
    const response = await probe.expect(request, expected, connection)
    if (response === undefined) return
    if (headerValue(response.headers, 'connection')?.toLowerCase() === 'close') {
      probe.report(request, { expected: 'a connection that stays open', received: 'connection: close' })
      return
    }
    await probe.attempt(request, async () =>
      probe.judge({ target }, await connection.exchange({ target }), next),
    )
  })
}

/** Sends all requests in one write. Each has an id, by which its response is recognised. */
async function pipeline(probe: Probe, requests: readonly Step[]): Promise<void> {
  const host = authority(probe.subject.target)
  const steps = requests.map((step, index) => identified(step, `pipelined-${index}`))
  await probe.connected(async (connection) => {
    await connection.send(Buffer.concat(steps.map(({ request }) => requestBytes(request, host))))
    for (const { request, expected } of steps) {
      const response = await probe.attempt(request, () => connection.response(methodOf(request)))
      if (response === undefined) return
      probe.judge(request, response, expected)
    }
  })
}

/** Sends a request in pieces, with time for the server to read each. */
async function sendInPieces(
  probe: Probe,
  { request, expected }: Step,
  cuts: (bytes: Buffer) => readonly number[],
  connection?: Connection,
): Promise<void> {
  if (connection === undefined) {
    return probe.connected((opened) => sendInPieces(probe, { request, expected }, cuts, opened))
  }
  const bytes = requestBytes(request, authority(probe.subject.target))
  await probe.attempt(request, async () => {
    let start = 0
    const end = performance.now() + PIECES_MS
    for (const cut of cuts(bytes)) {
      if (performance.now() > end) break
      await connection.send(bytes.subarray(start, cut))
      await sleep(PAUSE_MS)
      start = cut
    }
    await connection.send(bytes.subarray(start))
    probe.judge(request, await connection.response(methodOf(request)), expected)
  })
}

async function expectClosedAfter(probe: Probe, { request, expected }: Step): Promise<void> {
  await probe.connected(async (connection) => {
    const response = await probe.expect(request, expected, connection)
    if (response !== undefined) await probe.attempt(request, () => connection.closed())
  })
}

/** RFC 9110 section 10.1.1: either 100 and, after the body, the response; or the response at once. */
async function expectContinue(probe: Probe, { request, expected }: Step): Promise<void> {
  const body = Buffer.from('12345')
  const headers = [['content-length', String(body.length)] as const, ['expect', '100-continue'] as const]
  const announced: Request = { ...request, headers }
  await probe.attempt(announced, () =>
    probe.connected(async (connection) => {
      await connection.send(announced)
      if ((await connection.peekStatus()) === 100) await connection.send(body)
      probe.judge(announced, await connection.response(methodOf(announced)), expected)
    }),
  )
}
