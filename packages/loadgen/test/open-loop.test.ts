import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import type { LoadOptions } from '../src/engine/options.ts'
import { poisson } from '../src/engine/poisson.ts'
import { type LoadResult, runLoad } from '../src/index.ts'
import { noErrors } from '../src/report/result.ts'
import { closedPort, type Handler, type RawServer, rawResponse, serve } from './raw-server.ts'

type Settings = Partial<Omit<LoadOptions, 'target'>> & { rate: number }

async function against(
  handler: Handler,
  settings: Settings,
): Promise<{ server: RawServer; result: LoadResult }> {
  await using server = await serve(handler)
  const plan = { target: server.target, path: '/', connections: 32, timeoutMs: 20_000, durationMs: 200 }
  return { server, result: await runLoad({ ...plan, ...settings }) }
}

/** How many requests are due within so many milliseconds. */
function dueWithin(durationMs: number, rate: number, seed = 1): number {
  const next = poisson(rate, createRandom(seed))
  let count = 0
  while (next() < durationMs) count++
  return count
}

const AT_ONCE: Handler = (socket) => socket.write(rawResponse('hi'))
const after =
  (ms: number): Handler =>
  (socket) =>
    setTimeout(() => socket.write(rawResponse('hi')), ms)

test('exactly the requests that are due are sent, and each is reported', async () => {
  for (const seed of [5, 6]) {
    const due = dueWithin(200, 500, seed)
    const { server, result } = await against(AT_ONCE, { rate: 500, seed })
    assert.deepEqual(result.errors, noErrors())
    assert.deepEqual([result.requests, server.requests], [due, due])
    assert.equal(Math.round(result.openLoop?.offered ?? 0), Math.round(due / 0.2))
    assert.equal(result.rate, result.requests / result.seconds)
  }
})

test('a warm-up is not counted', async () => {
  const { server, result } = await against(AT_ONCE, { rate: 1_000, durationMs: 80, warmupMs: 100 })
  const [all, warmup] = [dueWithin(180, 1_000), dueWithin(100, 1_000)]
  assert.equal(server.requests, all)
  assert.deepEqual(result.statuses, { 200: all - warmup })
})

test('a wait for a connection counts in the latency, not in the service time', async () => {
  const { server, result } = await against(after(20), { rate: 200, connections: 1 })
  // They are due within 200 ms, but take 20 ms each on one connection.
  const due = dueWithin(200, 200)
  assert.ok(due > 25)
  assert.equal(server.connections, 1)
  assert.equal(result.requests, due)
  assert.ok(result.service.p50 >= 19, `service ${result.service.p50} ms`)
  assert.ok(result.latency.max >= 0.95 * (due * 19 - 200), `latency ${result.latency.max} ms`)
  assert.ok(result.latency.p50 > 2 * result.service.p50)
  assert.ok(result.lag !== null && result.openLoop !== null)
  assert.ok(result.openLoop.achieved < 0.6 * result.openLoop.offered, 'it was not sent in time')
  // Unless others kept it from running, the generator is not to blame.
  if ((result.self.waitSeconds ?? 0) < 0.01) assert.equal(result.self.bound, false, result.self.reason ?? '')
})

test('requests go to the connection that has been idle longest: all are used alike', async () => {
  const ports = new Map<number | undefined, number>()
  const { server } = await against(
    (socket) => {
      ports.set(socket.remotePort, (ports.get(socket.remotePort) ?? 0) + 1)
      socket.write(rawResponse('hi'))
    },
    { rate: 300, connections: 6 },
  )
  assert.equal(server.connections, 6)
  for (const requests of ports.values()) assert.ok(requests >= 5 && requests <= 20, `${[...ports.values()]}`)
})

test('nobody responds: timeout, counted from when a request was due, sent or not', async () => {
  const { server, result } = await against(() => {}, { rate: 100, connections: 2, timeoutMs: 400 })
  const due = dueWithin(200, 100)
  assert.equal(result.requests, 0)
  // A connection that is given up is replaced, and its successor sends what is waiting.
  assert.deepEqual(result.errors, { ...noErrors(), timeout: due })
  assert.ok(server.requests >= 2 && server.requests < due, `${server.requests} were sent`)
})

test('nobody listens: each request times out, each attempt to connect fails', async () => {
  const target = { host: '127.0.0.1', port: await closedPort() }
  const result = await runLoad({
    target,
    path: '/',
    connections: 2,
    durationMs: 100,
    rate: 100,
    timeoutMs: 50,
  })
  assert.equal(result.requests, 0)
  assert.ok(result.errors.connect >= 2)
  assert.deepEqual(result.errors, {
    ...noErrors(),
    connect: result.errors.connect,
    timeout: dueWithin(100, 100),
  })
})

test('an abort ends the schedule', async () => {
  const stop = new AbortController()
  const { result } = await against(
    (socket, n) => {
      socket.write(rawResponse('hi'))
      if (n === 50) stop.abort()
    },
    { rate: 1_000, durationMs: 60_000, signal: stop.signal },
  )
  assert.ok(result.requests > 0 && result.requests <= 51)
  assert.ok(result.seconds < 60)
  const { offered = 0 } = result.openLoop ?? {}
  assert.ok(offered > 300 && offered < 3_000, `${offered} offered per second, not 1000 in a whole minute`)
})

test('a connection per request: the latency includes connecting', async () => {
  const { server, result } = await against((socket) => setTimeout(() => socket.end(rawResponse('hi')), 10), {
    rate: 300,
    newConnections: true,
  })
  const due = dueWithin(200, 300)
  assert.deepEqual([server.connections, result.requests], [due, due])
  assert.deepEqual(result.errors, noErrors())
  assert.ok(result.service.min >= 9)
})
