import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LoadOptions, type LoadResult, runLoad } from '../src/index.ts'
import { closedPort, type Handler, type RawServer, rawResponse, serve } from '../src/instrument/raw-server.ts'
import { noErrors } from '../src/report/result.ts'

type Settings = Partial<Omit<LoadOptions, 'target'>> & { rate: number }

async function against(
  handler: Handler,
  settings: Settings,
): Promise<{ server: RawServer; result: LoadResult }> {
  await using server = await serve(handler)
  const plan = { target: server.target, path: '/', connections: 32, timeoutMs: 20_000 }
  const length = settings.requests === undefined ? { durationMs: 200 } : {}
  return { server, result: await runLoad({ ...plan, ...length, ...settings }) }
}

const AT_ONCE: Handler = (socket) => socket.write(rawResponse('hi'))
const after =
  (ms: number): Handler =>
  (socket) =>
    setTimeout(() => socket.write(rawResponse('hi')), ms)

test('a constant rate offers exactly its requests', async () => {
  const { server, result } = await against(AT_ONCE, { rate: 500, arrivals: 'constant' })
  assert.deepEqual(result.errors, noErrors())
  assert.equal(result.requests, 100)
  assert.equal(server.requests, 100)
  assert.equal(Math.round(result.openLoop?.offered ?? 0), 500)
  assert.equal(result.rate, result.requests / result.seconds)
})

test('a Poisson process offers the same requests with the same seed', async () => {
  const due = async (seed?: number) => {
    const settings = { rate: 500, ...(seed !== undefined && { seed }) }
    return (await against(AT_ONCE, settings)).result.requests
  }
  const [first, again, ...others] = [await due(5), await due(5), await due(6), await due(7), await due(8)]
  assert.equal(first, again)
  assert.ok(others.some((requests) => requests !== first))
  // 100 on average; the standard deviation is 10.
  for (const requests of [first, ...others]) assert.ok(requests > 50 && requests < 150, `${requests}`)
})

test('a number of requests, after a warm-up that is not counted', async () => {
  const settings = { rate: 1_000, requests: 77, warmupMs: 100 }
  const { server, result } = await against(AT_ONCE, settings)
  assert.equal(result.requests, 77)
  assert.ok(server.requests > 77 + 50, `${server.requests} with those of the warm-up`)
  assert.deepEqual(result.statuses, { 200: 77 })
})

test('a wait for a connection counts in the latency, not in the service time', async () => {
  const settings = { rate: 200, arrivals: 'constant', connections: 1 } as const
  const { server, result } = await against(after(20), settings)
  // 40 requests at 20 ms each on one connection take 800 ms, but are due within 200.
  assert.equal(server.connections, 1)
  assert.equal(result.requests, 40)
  assert.ok(result.service.p50 >= 19, `service ${result.service.p50} ms`)
  assert.ok(result.latency.max >= 0.95 * (40 * 19 - 200), `latency ${result.latency.max} ms`)
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
    { rate: 300, requests: 60, arrivals: 'constant', connections: 6 },
  )
  assert.equal(server.connections, 6)
  for (const requests of ports.values()) assert.ok(requests >= 5 && requests <= 15, `${[...ports.values()]}`)
})

test('nobody responds: timeout, counted from when a request was due, sent or not', async () => {
  const settings = { rate: 100, arrivals: 'constant', connections: 2, timeoutMs: 400 } as const
  const { server, result } = await against(() => {}, settings)
  assert.equal(result.requests, 0)
  // A connection that is given up is replaced, and its successor sends what is waiting.
  assert.deepEqual(result.errors, { ...noErrors(), timeout: 20 })
  assert.ok(server.requests >= 2 && server.requests < 20, `${server.requests} were sent`)
})

test('nobody listens: each request times out, each attempt to connect fails', async () => {
  const target = { host: '127.0.0.1', port: await closedPort() }
  const result = await runLoad({
    target,
    path: '/',
    connections: 2,
    durationMs: 100,
    rate: 100,
    arrivals: 'constant',
    timeoutMs: 50,
  })
  assert.equal(result.requests, 0)
  assert.ok(result.errors.connect >= 2)
  assert.deepEqual(result.errors, { ...noErrors(), connect: result.errors.connect, timeout: 10 })
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
    requests: 60,
    newConnections: true,
  })
  assert.equal(server.connections, 60)
  assert.equal(result.requests, 60)
  assert.deepEqual(result.errors, noErrors())
  assert.ok(result.service.min >= 9)
})

test('a series tells responses and errors of each interval', async () => {
  const { result } = await against(
    (socket, n) => socket.write(rawResponse('hi', n === 30 ? { status: '500 No' } : {})),
    {
      rate: 200,
      arrivals: 'constant',
      durationMs: 300,
      seriesMs: 50,
    },
  )
  assert.equal(result.requests, 60)
  const sum = (pick: (point: (typeof result.series)[number]) => number) =>
    result.series.reduce((total, point) => total + pick(point), 0)
  assert.equal(
    sum(({ requests }) => requests),
    60,
  )
  assert.equal(
    sum(({ errors }) => errors),
    1,
  )
  result.series.forEach(({ at, seconds, p50, p99, max }, n) => {
    assert.ok(Math.abs(at - n * 0.05) < 1e-9 && seconds <= 0.05)
    assert.ok(p50 <= p99 && p99 <= max)
  })
  assert.ok(result.series.length >= 6)
})
