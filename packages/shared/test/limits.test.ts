import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { limitSilence } from '../src/handler-timeout.ts'
import { waitsTooLong } from '../src/load-shedding.ts'
import { serve } from '../src/testing/app.ts'

/** How long a response may stand still, and a request may wait. */

/** A server with that handler, which may be silent for 400 ms. */
const start = (handle: (response: ServerResponse) => unknown) =>
  serve((_request, response) => {
    limitSilence(response, 400)
    handle(response)
  })

test('a handler that is too late: 503 with the headers so far, and its own response is dropped', async () => {
  const told = Promise.withResolvers<void>()
  const responded = Promise.withResolvers<void>()
  await using server = await start(async (response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    await told.promise
    response.writeHead(200, { 'content-type': 'text/plain' }).end('late')
    responded.resolve()
  })
  const { status, headers } = await fetch(server.url)
  deepEqual([status, headers.getSetCookie()], [503, ['a=1', 'b=2']])
  told.resolve()
  await responded.promise
})

test('a client that never reads is cut', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using server = await start((response) => {
    response.once('close', resolve)
    response.write('x'.repeat(16_000_000)) // more than the kernel takes
  })
  const client = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  await once(client, 'connect')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await closed
  client.destroy()
})

test('a response that goes on is not, however long it takes', async () => {
  await using server = await start(async (response) => {
    for (let part = 0; part < 16; part++) {
      response.write('x')
      await sleep(50)
    }
    response.end()
  })
  equal(await (await fetch(server.url)).text(), 'x'.repeat(16))
})

/** Fills the turn of the event loop with the clock of the test. */
async function mockClock(t: TestContext) {
  await nextTurn()
  const clock = { ms: 1_000 }
  t.mock.method(globalThis.performance, 'now', () => clock.ms)
  return clock
}

/** Of the event loop. */
const countTurns = () => performance.nodeTiming.uvMetricsInfo.loopCount

test('after 10 ms in a turn the others wait, in their order, one per turn; who waits too long is told, and with 0 nobody waits', async (t) => {
  const clock = await mockClock(t)
  const turn = countTurns()
  await Promise.all([waitsTooLong(250), waitsTooLong(250)])
  equal(countTurns(), turn)
  clock.ms += 11
  const order: number[] = []
  const turns = new Set<number>()
  const waiting = [1, 2, 3].map(async (number) => {
    const isTooLate = await waitsTooLong(number === 3 ? 1_000 : 250)
    order.push(number)
    turns.add(countTurns())
    return isTooLate
  })
  clock.ms += 251
  equal(await waitsTooLong(0), false)
  equal(countTurns(), turn)
  deepEqual(await Promise.all(waiting), [true, true, false])
  deepEqual([order, turns.size], [[1, 2, 3], 3])
})
