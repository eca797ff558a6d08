import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { runLoad } from '../src/load.ts'
import { poisson } from '../src/loops.ts'
import type { LoadOptions } from '../src/plan.ts'
import { Queue } from '../src/pool.ts'
import type { LoadResult } from '../src/result.ts'
import { noErrors } from '../src/result.ts'
import { LoopWatch } from '../src/tally.ts'
import { CLOSED_PORT, dueWithin, type Handler, type RawServer, rawResponse, serve } from './raw-server.ts'

type Settings = Partial<Omit<LoadOptions, 'target'>> & { rate: number }

async function against(
  handler: Handler,
  settings: Settings,
): Promise<{ server: RawServer; result: LoadResult }> {
  await using server = await serve(handler)
  const plan = { target: server.target, path: '/', connections: 32, timeoutMs: 20_000, durationMs: 200 }
  return { server, result: await runLoad({ ...plan, ...settings }) }
}

const AT_ONCE: Handler = (socket) => socket.write(rawResponse('hi'))

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
  const slow: Handler = (socket) => setTimeout(() => socket.write(rawResponse('hi')), 20)
  const { server, result } = await against(slow, { rate: 200, connections: 1 })
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
  const target = { host: '127.0.0.1', port: CLOSED_PORT }
  const plan = { target, path: '/', connections: 2, durationMs: 100, rate: 100, timeoutMs: 50 }
  const { requests, errors } = await runLoad(plan)
  const { connect } = errors
  assert.ok(requests === 0 && connect >= 2)
  assert.deepEqual(errors, { ...noErrors(), connect, timeout: dueWithin(100, 100) })
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
  const slow: Handler = (socket) => setTimeout(() => socket.end(rawResponse('hi')), 10)
  const { server, result } = await against(slow, { rate: 300, newConnections: true })
  const due = dueWithin(200, 300)
  assert.deepEqual([server.connections, result.requests], [due, due])
  assert.deepEqual(result.errors, noErrors())
  assert.ok(result.service.min >= 9)
})

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

test('arrivals are a Poisson process: gaps are exponential and independent, and the seed decides', () => {
  const count = 200_000
  const drawn = (seed: number, length: number) => {
    const times = Array.from({ length }, poisson(500, createRandom(seed)))
    return times.map((time, n) => time - (times[n - 1] ?? 0))
  }
  const gaps = drawn(1, count)
  // P(gap > t) = exp(−t / mean), at several t, with a mean of 2 ms; three standard errors: the seed is fixed.
  assert.ok(Math.abs(mean(gaps) - 2) < 3 * (2 / Math.sqrt(count)), `mean ${mean(gaps)}`)
  for (const t of [0.2, 2, 6]) {
    const expected = Math.exp(-t / 2)
    const found = gaps.filter((gap) => gap > t).length / count
    const error = Math.sqrt((expected * (1 - expected)) / count)
    assert.ok(Math.abs(found - expected) < 3 * error, `${found} of the gaps exceed ${t} ms, not ${expected}`)
  }
  // The variance of a gap is 4.
  const products = gaps.slice(1).map((gap, n) => (gap - 2) * ((gaps[n] ?? 0) - 2))
  assert.ok(Math.abs(mean(products) / 4) < 5 / Math.sqrt(count), 'no autocorrelation')
  assert.deepEqual(drawn(5, 100), drawn(5, 100))
  assert.notDeepEqual(drawn(5, 100), drawn(6, 100))
})

test('a queue does what an array does, however long', () => {
  const queue = new Queue<number>()
  const model: number[] = []
  // Grows to thousands, and is empty now and then.
  for (let n = 0; n < 20_000; n++) {
    if (n % 5 < (n % 8_000 < 4_000 ? 4 : 1)) {
      queue.push(n)
      model.push(n)
    } else {
      assert.equal(queue.peek(), model[0])
      assert.equal(queue.shift(), model.shift())
    }
    assert.equal(queue.length, model.length)
  }
  while (model.length > 0) assert.equal(queue.shift(), model.shift())
  assert.deepEqual([queue.shift(), queue.peek(), queue.length], [undefined, undefined, 0])
})

test('a loop is busy in the turns in which something was sent or received', () => {
  const watch = new LoopWatch()
  watch.begin(0)
  watch.events++
  watch.turn(1)
  watch.turn(4)
  assert.equal(watch.report().busy, 0.25)
})
