import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRandom } from '@startgrid/stats/random.ts'
import { generate } from 'selfsigned'
import { loadCommand } from '../src/cli.ts'
import { exactly } from '../src/expectation.ts'
import { runLoad } from '../src/load.ts'
import { poisson } from '../src/loops.ts'
import type { LoadOptions } from '../src/plan.ts'
import { type ErrorCounts, type LoadResult, noErrors } from '../src/result.ts'
import { AT_ONCE, CLOSED_PORT, type Handler, rawResponse, serve } from './raw-server.ts'

type Settings = Partial<Omit<LoadOptions, 'target'>>

function run(server: { target: LoadOptions['target'] }, settings: Settings = {}): Promise<LoadResult> {
  const patient = { path: '/', connections: 8, durationMs: 60, timeoutMs: 20_000 }
  return runLoad({ target: server.target, ...patient, ...settings })
}

async function against(handler: Handler, settings: Settings = {}) {
  await using server = await serve(handler)
  return { server, result: await run(server, settings) }
}

async function targetOf(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

function errors(counts: Partial<ErrorCounts> = {}): ErrorCounts {
  return { ...noErrors(), ...counts }
}

/** How many requests of an open loop are due within so many milliseconds. */
function dueWithin(durationMs: number, rate: number, seed = 1): number {
  const next = poisson(rate, createRandom(seed))
  let count = 0
  while (next() < durationMs) count++
  return count
}

test('every request that the server read is reported, none more, on connections that are opened once each', async () => {
  const { server, result } = await against(AT_ONCE, { connections: 300 })
  const { requests } = server
  assert.equal(server.connections, 300)
  assert.ok(requests >= 300)
  assert.deepEqual([result.requests, result.errors], [requests, errors()])
  assert.deepEqual(result.statuses, { 200: requests })
  assert.equal(result.bytes, requests * rawResponse('hi').length)
  assert.equal(result.rate, requests / result.seconds)
  const { p50, p90, p99, p999, max, mean } = result.latency
  assert.ok(p50 > 0 && p50 <= p90 && p90 <= p99 && p99 <= p999 && p999 <= max && mean <= max)
})

test('a warm-up is load that is not counted, and the first response after it is compared', async () => {
  const stop = new AbortController()
  const warm = new Set<Socket>()
  let [firstAt, late] = [0, 0]
  const { server, result } = await against(
    (socket, n) => {
      if (n === 0) firstAt = performance.now()
      // Eight of them may have been due in the warm-up.
      if (performance.now() > firstAt + 100 && ++late === 40) stop.abort()
      // The first one of each connection is sent when the load begins.
      socket.write(rawResponse(warm.has(socket) ? 'good' : 'bad'))
      warm.add(socket)
    },
    {
      warmupMs: 100,
      durationMs: 600_000,
      signal: stop.signal,
      expect: { body: exactly('good'), checkEvery: 1_000_000 },
    },
  )
  assert.ok(result.requests <= server.requests - 8, `${result.requests} of ${server.requests}`)
  assert.deepEqual([result.errors, result.checked], [errors(), 1])
})

test('in open loop, exactly the requests that are due are sent, and those after the warm-up are reported', async () => {
  const load = { connections: 32, rate: 1_000, seed: 5, warmupMs: 100, durationMs: 80 }
  const { server, result } = await against(AT_ONCE, load)
  const [all, warmup] = [dueWithin(180, 1_000, 5), dueWithin(100, 1_000, 5)]
  assert.equal(server.requests, all)
  assert.deepEqual([result.statuses, result.errors], [{ 200: all - warmup }, errors()])
  assert.equal(Math.round(result.openLoop?.offered ?? 0), Math.round((all - warmup) / 0.08))
})

test('latency counts from when a request was due, also if no connection is free', async () => {
  const HELD_MS = 100
  const held = (socket: Socket) => setTimeout(() => socket.write(rawResponse('hi')), HELD_MS)
  const { result } = await against(held, { connections: 2, rate: 100, durationMs: 300, seed: 1 })
  assert.equal(result.requests, dueWithin(300, 100))
  // No load makes a wait shorter; timers may be a millisecond early.
  assert.ok(result.service.p50 >= HELD_MS - 1)
  // Of n requests, two are held at a time.
  assert.ok(result.latency.max >= (result.requests / 2) * HELD_MS - 300 - 1)
  assert.ok(result.latency.mean > result.service.mean)
})

test('a connection per request, over TLS: each has its handshake', async () => {
  const { cert: ca, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  let requests = 0
  await using server = createSecureServer({ cert: ca, key }, (_, response) => {
    requests++
    response.end('x'.repeat(20_000))
  })
  const target = await targetOf(server)
  const load = { rate: 300, newConnections: true, expect: { body: { length: 20_000 } } }
  for (const authority of [ca, null]) {
    requests = 0
    const result = await run({ target: { ...target, ca: authority } }, load)
    assert.deepEqual([result.requests, result.errors], [requests, errors()])
    assert.deepEqual(Object.values(result.handshakes), [requests])
    assert.match(Object.keys(result.handshakes).join(), /^TLSv1\.3, TLS_\w+, \w+, http\/1\.1$/)
  }
  await assert.rejects(
    loadCommand([`https://127.0.0.1:${target.port}/`], 'pnpm load'),
    /^LoadError: The certificate of https:\S+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): on loopback, --insecure accepts it\.$/,
  )
})

test('a server that closes, because it says so or was asked to: no error; a response to HEAD has no body', async () => {
  const expect = { body: exactly('hi'), checkEvery: 1 }
  for (const [text, more] of [
    [rawResponse('hi', { headers: 'connection: close\r\n' }), { expect }],
    ['HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhi', { expect }],
    [rawResponse('hi'), { expect, headers: { Connection: 'close' } }],
    ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\n', { method: 'HEAD' }],
  ] as const) {
    const { server, result } = await against((socket) => socket.end(text), more)
    assert.ok(server.connections >= result.requests, 'one connection per request')
    assert.deepEqual([result.requests, result.errors], [server.requests, errors()])
  }
})

const RIGHT = rawResponse('right')

/** What every seventh request meets, by the error that it is. */
const FAULTS: [keyof ErrorCounts, string, (socket: Socket) => void][] = [
  ['status', 'another status', (socket) => socket.write(rawResponse('right', { status: '500 No' }))],
  ['body', 'a wrong body', (socket) => socket.write(rawResponse('wrong'))],
  ['parse', 'a byte too many', (socket) => socket.write(`${RIGHT}!`)],
  ['parse', 'no HTTP at all', (socket) => socket.write('SSH-2.0-OpenSSH\r\n')],
  ['reset', 'half a response', (socket) => socket.end(RIGHT.slice(0, -2))],
  ['reset', 'a reset', (socket) => socket.resetAndDestroy()],
]

for (const [kind, name, fault] of FAULTS)
  test(`every seventh request meets ${name}: each is counted once, as ${kind}`, async () => {
    let faults = 0
    const { server, result } = await against(
      (socket, n) => {
        if (n % 7 !== 6) return socket.write(RIGHT)
        faults++
        fault(socket)
      },
      { expect: { body: exactly('right'), checkEvery: 1 } },
    )
    // The last of the first eight is one.
    assert.ok(faults > 0)
    assert.deepEqual(result.errors, errors({ [kind]: faults }))
    assert.equal(result.requests, server.requests - (kind === 'reset' || kind === 'parse' ? faults : 0))
    if (kind === 'status') assert.deepEqual(result.statuses, { 200: result.requests - faults, 500: faults })
  })

test('bodies of many reads arrive whole, both ways', async () => {
  const body = Array.from({ length: 40_000 }, (_, n) => `${n}é`).join()
  let requests = 0
  await using server = createServer((request, response) => {
    requests++
    request.pipe(response)
  })
  const load = { method: 'POST', body, connections: 2, expect: { body: exactly(body), checkEvery: 1 } }
  const result = await run({ target: await targetOf(server) }, load)
  assert.ok(requests >= 2)
  assert.deepEqual([result.requests, result.checked, result.errors], [requests, requests, errors()])
})

test('paths of a list reach the server, and each has its own right response', async () => {
  const seen = new Set<string>()
  await using server = await serve((socket, _n, head) => {
    const [, path = ''] = head.split(' ')
    seen.add(path)
    socket.write(rawResponse(path))
  })
  const path = ['/one', '/other/two']
  const body = path.map((one) => exactly(one))
  const right = await run(server, { connections: 32, path, expect: { body, checkEvery: 1 } })
  assert.deepEqual([right.errors, right.checked], [errors(), right.requests])
  const swapped = await run(server, { path, expect: { body: body.toReversed(), checkEvery: 1 } })
  assert.equal(swapped.errors.body, swapped.requests)
  assert.deepEqual(seen, new Set(path))
})

test('a 408 on an idle connection belongs to no request', async () => {
  let connections = 0
  await using server = createTcpServer((socket) => {
    if (connections++ === 0) socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n')
    else socket.on('data', () => socket.write(rawResponse('hi')))
    socket.on('error', () => {})
  })
  // So that it comes before any request.
  const onPhase = async () => {
    while (connections < 3) await nextTurn()
  }
  const result = await run({ target: await targetOf(server) }, { connections: 2, onPhase })
  assert.deepEqual(result.errors, errors())
  assert.ok(result.requests > 0)
})

test('responses in flight at the end are waited for, and latency counts to the last byte', async () => {
  const held: number[] = []
  const { server, result } = await against(
    (socket) => {
      const readAt = performance.now()
      socket.write(RIGHT.slice(0, -1))
      setTimeout(() => {
        held.push(performance.now() - readAt)
        socket.write(RIGHT.slice(-1))
      }, 30)
    },
    { durationMs: 1 },
  )
  assert.deepEqual([server.requests, result.requests], [8, 8])
  // Each request was sent before it was read.
  assert.ok(
    result.latency.mean >= held.reduce((sum, ms) => sum + ms, 0) / 8,
    `${result.latency.mean}: ${held}`,
  )
  assert.ok(result.seconds >= Math.min(...held) / 1_000, 'until the last response')
})

test('nobody responds: timeout, counted from when a request was due, sent or not', async () => {
  const load = { rate: 100, connections: 2, durationMs: 200, timeoutMs: 400 }
  const { server, result } = await against(() => {}, load)
  const due = dueWithin(200, 100)
  // A connection that is given up is replaced, and its successor sends what is waiting.
  assert.deepEqual([result.requests, result.rate, result.errors], [0, 0, errors({ timeout: due })])
  assert.ok(server.requests >= 2 && server.requests < due, `${server.requests} were sent`)
})

test('a connection that failed is tried again, after a pause; none is opened after an abort', async (context) => {
  // The pause ends when this test says so.
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const nobody = await run({ target: { host: '127.0.0.1', port: CLOSED_PORT } }, { connections: 4 })
  assert.deepEqual([nobody.requests, nobody.errors], [0, errors({ connect: 4 })])
  let connections = 0
  await using server = createTcpServer((socket) => {
    connections++
    socket.on('error', () => {}).destroy()
  })
  const stop = new AbortController()
  const load = { connections: 4, durationMs: 600_000, signal: stop.signal }
  const target = await targetOf(server)
  const running = run({ target }, load)
  while (connections < 8) {
    await nextTurn()
    context.mock.timers.tick(10)
  }
  stop.abort()
  const closed = await running
  const { reset, connect } = closed.errors
  assert.deepEqual([closed.requests, closed.errors], [0, errors({ reset, connect })])
  assert.ok(reset + connect >= 4)
  assert.deepEqual((await run({ target }, load)).errors, errors())
})
