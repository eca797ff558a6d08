import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { SecureContextOptions } from 'node:tls'
import { generate } from 'selfsigned'
import { exactly } from '../src/expectation.ts'
import { runLoad } from '../src/load.ts'
import type { LoadOptions } from '../src/plan.ts'
import { type ErrorCounts, type LoadResult, noErrors, sumErrors } from '../src/result.ts'
import { CLOSED_PORT, type Handler, type RawServer, rawResponse, serve } from './raw-server.ts'

type Settings = Partial<Omit<LoadOptions, 'target'>>

function run(server: { target: LoadOptions['target'] }, settings: Settings = {}): Promise<LoadResult> {
  return runLoad({ target: server.target, path: '/', connections: 8, durationMs: 60, ...settings })
}

async function against(
  handler: Handler,
  settings: Settings = {},
): Promise<{ server: RawServer; result: LoadResult }> {
  await using server = await serve(handler)
  return { server, result: await run(server, settings) }
}

async function targetOf(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

function errors(counts: Partial<ErrorCounts>): ErrorCounts {
  return { ...noErrors(), ...counts }
}

/** The most attempts of one connection with a back-off of 10 ms; Node's timers may fire up to 1 ms early. */
function attempts({ seconds }: LoadResult): number {
  return (seconds * 1000) / 9 + 2
}

test('every request that the server read is reported, none more', async () => {
  const { server, result } = await against((socket) => socket.write(rawResponse('hi')))
  assert.equal(result.requests, server.requests)
  assert.equal(server.connections, 8)
  assert.deepEqual(result.errors, noErrors())
  assert.deepEqual(result.statuses, { 200: server.requests })
  assert.equal(result.bytes, server.requests * rawResponse('hi').length)
  assert.equal(result.rate, result.requests / result.seconds)
  assert.ok(result.seconds >= 0.059, `${result.seconds} s`)
  const { min, p50, p90, p99, p999, max, mean } = result.latency
  assert.ok(min > 0 && min <= p50 && p50 <= p90 && p90 <= p99 && p99 <= p999 && p999 <= max)
  assert.ok(mean >= min && mean <= max)
})

/** A server over TLS on loopback. @param options of `node:tls` */
async function secureServer(options: SecureContextOptions = {}, body = 'hi') {
  const { cert: ca, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  const server = createSecureServer({ ...options, cert: ca, key }, (_, response) => response.end(body))
  return { server, target: { ...(await targetOf(server)), ca } }
}

test('a load over TLS', async () => {
  const { server, target } = await secureServer({}, 'x'.repeat(20_000))
  await using _ = server
  let requests = 0
  server.on('request', () => requests++)
  const load = { connections: 4, expect: { body: { length: 20_000 } } }
  const result = await run({ target }, load)
  assert.equal(result.requests, requests)
  assert.deepEqual(result.errors, noErrors())
  assert.deepEqual(Object.values(result.handshakes), [4])
  assert.match(Object.keys(result.handshakes).join(), /^TLSv1\.3, TLS_\w+, \w+, http\/1\.1, full$/)
  const anybody = await run({ target: { ...target, ca: null } }, load)
  assert.deepEqual(anybody.errors, noErrors())
  const { ca: __, ...plain } = target
  const refused = await run({ target: plain }, { connections: 1 })
  assert.ok(refused.requests === 0 && sumErrors(refused.errors) > 0)
})

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
  test(`a connection per request over ${maxVersion}: all handshakes are full`, async () => {
    const { server, target } = await secureServer({ maxVersion })
    await using _ = server
    const { errors, handshakes, requests } = await run({ target }, { newConnections: true })
    assert.deepEqual(errors, noErrors())
    assert.ok(requests >= 8)
    assert.deepEqual(Object.values(handshakes), [requests])
    assert.match(Object.keys(handshakes).join(), /^TLSv1.*full$/)
  })

test('warm-up is load that is not counted, and the first response after it is compared', async () => {
  const { server, result } = await against(
    (socket, n) => socket.write(rawResponse(n < 20 ? 'bad' : 'good')),
    { warmupMs: 150, expect: { body: exactly('good'), checkEvery: 1_000_000 } },
  )
  assert.ok(server.requests > result.requests, `${server.requests} of ${result.requests}`)
  assert.deepEqual([result.errors, result.checked], [noErrors(), 1])
})

test('responses in pieces and in one write with another status before it', async () => {
  const text = rawResponse('hello', { headers: 'date: now\r\n' })
  const { server, result } = await against(
    (socket, n) => {
      const at = 1 + (n % (text.length - 1))
      socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${text.slice(0, at)}`)
      setImmediate(() => socket.write(text.slice(at)))
    },
    { expect: { body: exactly('hello'), checkEvery: 2 } },
  )
  assert.equal(result.requests, server.requests)
  assert.ok(result.checked > 0 && result.checked < result.requests)
  assert.deepEqual(result.errors, noErrors())
})

test('a response to HEAD has no body', async () => {
  const { server, result } = await against(
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'),
    { method: 'HEAD' },
  )
  assert.ok(result.requests >= 8)
  assert.equal(result.requests, server.requests)
})

test('a server that closes, because it says so or was asked to: no error', async () => {
  for (const [text, headers] of [
    [rawResponse('hi', { headers: 'connection: close\r\n' }), {}],
    ['HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhi', {}],
    ['HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi', {}],
    [rawResponse('hi'), { Connection: 'close' }],
  ] as const) {
    const expect = { body: exactly('hi'), checkEvery: 1 }
    const { server, result } = await against((socket) => socket.end(text), { headers, expect })
    assert.equal(result.requests, server.requests)
    assert.ok(server.connections >= result.requests, 'one connection per request')
    assert.deepEqual(result.errors, noErrors())
  }
})

const RIGHT = rawResponse('right')

/** What every seventh request meets, by the error that it is. */
const FAULTS: [keyof ErrorCounts | 'none', string, (socket: Socket) => void][] = [
  ['status', 'another status', (socket) => socket.write(rawResponse('right', { status: '500 No' }))],
  ['body', 'a wrong body of the same length', (socket) => socket.write(rawResponse('wrong'))],
  ['body', 'another length', (socket) => socket.write(rawResponse('right!'))],
  ['parse', 'a byte too many', (socket) => socket.write(`${RIGHT}!`)],
  ['parse', 'two responses', (socket) => socket.write(RIGHT + RIGHT)],
  ['parse', 'no HTTP at all', (socket) => socket.write('SSH-2.0-OpenSSH\r\n')],
  ['reset', 'half a response', (socket) => socket.end(RIGHT.slice(0, -2))],
  ['reset', 'a reset', (socket) => socket.resetAndDestroy()],
  ['reset', 'a reset in mid-response', (socket) => socket.write('HTTP/1', () => socket.resetAndDestroy())],
  [
    'none',
    'an announced close',
    (socket) => socket.end(rawResponse('right', { headers: 'connection: close\r\n' })),
  ],
]

for (const [kind, name, fault] of FAULTS) {
  test(`every seventh request meets ${name}: each is counted once, as ${kind}`, async () => {
    let faults = 0
    const { server, result } = await against(
      (socket, n) => {
        if (n % 7 !== 6) return socket.write(RIGHT)
        faults++
        fault(socket)
      },
      { durationMs: 100, expect: { body: exactly('right'), checkEvery: 1 } },
    )
    // The last of the first eight is one.
    assert.ok(faults > 0)
    assert.deepEqual(result.errors, errors(kind === 'none' ? {} : { [kind]: faults }))
    assert.equal(result.requests, server.requests - (kind === 'reset' || kind === 'parse' ? faults : 0))
    const { requests } = result
    if (kind === 'status') assert.deepEqual(result.statuses, { 200: requests - faults, 500: faults })
  })
}

test('another length is noticed in every response, sampled or not', async () => {
  const { server, result } = await against(
    (socket, n) => socket.write(rawResponse(n === 3 ? 'hellO!' : 'hello')),
    { expect: { body: exactly('hello'), checkEvery: 1_000_000 } },
  )
  assert.ok(server.requests > 3)
  assert.deepEqual(result.errors, errors({ body: 1 }))
})

test('a body of many reads, framed in each way', async () => {
  // No two places far apart look alike.
  const body = Buffer.from(Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * 31 + (at >> 8)) & 0xff))
  const framings: Record<string, (response: ServerResponse) => void> = {
    length: (response) => response.setHeader('content-length', body.length).end(body),
    chunks: (response) => {
      for (const [from, to] of [
        [0, 1],
        [1, 1_009],
        [1_009, 65_537],
        [65_537, body.length],
      ])
        response.write(body.subarray(from, to))
      response.end()
    },
    close: (response) => {
      response.useChunkedEncodingByDefault = false
      response.setHeader('connection', 'close').end(body)
    },
  }
  for (const [framing, respond] of Object.entries(framings)) {
    let requests = 0
    await using server = createServer((_request, response) => {
      requests++
      respond(response)
    })
    const expect = { body: exactly(body), checkEvery: 1 }
    const result = await run({ target: await targetOf(server) }, { connections: 2, expect })
    assert.ok(requests >= 2)
    const { checked, errors, bytes } = result
    assert.deepEqual([result.requests, checked, errors], [requests, requests, noErrors()], framing)
    assert.ok(bytes > requests * body.length)
  }
})

test('bodies arrive whole, whatever their size', async () => {
  const body = `${'é'.repeat(100_000)}!`
  let requests = 0
  await using server = createServer(async (request, response) => {
    requests++
    const { method, headers } = request
    response.end(`${method} ${headers['content-length']} ${(await text(request)) === body}`)
  })
  const expect = { body: exactly('POST 200001 true'), checkEvery: 1 }
  const load = { method: 'POST', body, connections: 2, expect }
  const result = await run({ target: await targetOf(server) }, load)
  assert.ok(requests >= 2)
  assert.equal(result.requests, requests)
  assert.deepEqual(result.errors, noErrors())
})

test('paths of a list and random parts reach the server; each has its own right response', async () => {
  const seen = new Set<string>()
  await using server = await serve((socket, _n, head) => {
    const [, path = ''] = head.split(' ')
    seen.add(path)
    socket.write(rawResponse(path))
  })
  const path = ['/one', '/other/two']
  const body = path.map((one) => exactly(one))
  const right = await run(server, { connections: 32, path, expect: { body, checkEvery: 1 } })
  assert.deepEqual(right.errors, noErrors())
  assert.equal(right.checked, right.requests)
  const swapped = await run(server, { path, expect: { body: body.toReversed(), checkEvery: 1 } })
  assert.equal(swapped.errors.body, swapped.requests)
  assert.deepEqual(seen, new Set(path))
  seen.clear()
  await run(server, { connections: 32, path: '/x/{int:1-4}' })
  assert.deepEqual([...seen].sort(), ['/x/1', '/x/2', '/x/3', '/x/4'])
})

test('a 408 on an idle connection belongs to no request', async () => {
  let connections = 0
  await using server = createTcpServer((socket) => {
    if (connections++ === 0) socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n')
    else socket.on('data', () => socket.write(rawResponse('hi')))
    socket.on('error', () => {})
  })
  const target = await targetOf(server)
  const result = await run(
    { target },
    {
      connections: 2,
      // So that it comes before any request.
      onPhase: async (phase) => {
        while (phase === 'open' && connections < 3) await nextTurn()
      },
    },
  )
  assert.deepEqual(result.errors, noErrors())
  assert.ok(result.requests > 0)
})

test('a server that never responds: timeout', async () => {
  await using server = await serve(() => {})
  const result = await run(server, { timeoutMs: 60 })
  // On a busy machine it reads a request after the client has left.
  while (server.requests < result.errors.timeout) await sleep(5)
  assert.deepEqual(result.errors, errors({ timeout: server.requests }))
  assert.ok(server.requests >= 8)
  assert.deepEqual([result.requests, result.rate], [0, 0])
  assert.deepEqual(result.latency, { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0, min: 0 })
})

test('responses in flight at the end are waited for, and latency counts to the last byte', async () => {
  const text = rawResponse('hi')
  for (const early of ['', text.slice(0, -1)]) {
    const { server, result } = await against(
      (socket) => {
        socket.write(early)
        setTimeout(() => socket.write(text.slice(early.length)), 100)
      },
      { durationMs: 50 },
    )
    assert.deepEqual([server.requests, result.requests], [8, 8])
    // Node's timers count whole milliseconds of the loop's clock, so one may fire up to one early.
    assert.ok(result.latency.min >= 99 && result.latency.p50 >= 99, JSON.stringify(result.latency))
    assert.ok(result.seconds >= 0.098, `${result.seconds} s: until the last response`)
  }
})

test('connections that are closed at once are errors, not load, and so is nobody: it backs off', async () => {
  let connections = 0
  await using server = createTcpServer((socket) => {
    connections++
    socket.on('error', () => {}).destroy()
  })
  const closed = await run({ target: await targetOf(server) }, { connections: 4, durationMs: 100 })
  const { reset, connect } = closed.errors
  assert.deepEqual([closed.requests, closed.errors], [0, errors({ reset, connect })])
  assert.ok(reset + connect > 0 && connections <= 4 * attempts(closed), `${connections} connections`)
  const target = { host: '127.0.0.1', port: CLOSED_PORT }
  const nobody = await run({ target }, { connections: 4, durationMs: 100 })
  const tries = nobody.errors.connect
  assert.deepEqual([nobody.requests, nobody.errors], [0, errors({ connect: tries })])
  assert.ok(tries >= 4 && tries <= 4 * attempts(nobody), `${tries} attempts`)
})

test('a server that goes away is missed, and found when it is back', async () => {
  const server = await serve((socket) => socket.write(rawResponse('hi')))
  const { port } = server
  const stop = new AbortController()
  const running = run(server, { durationMs: 60_000, signal: stop.signal })
  while (server.requests < 100) await sleep(5)
  await server[Symbol.asyncDispose]()
  const before = server.requests
  let responses = 0
  await using back = createServer((_request, response) => {
    response.end('hi')
    if (++responses === 100) stop.abort()
  })
  back.listen(port, '127.0.0.1')
  const result = await running
  assert.ok(result.requests > before, 'responses of the second server')
  const { reset, connect } = result.errors
  assert.ok(reset + connect > 0)
  assert.deepEqual(result.errors, errors({ reset, connect }))
})

test('an abort keeps what was measured', async () => {
  const stop = new AbortController()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 200) stop.abort()
  })
  const result = await run(server, { durationMs: 60_000, signal: stop.signal })
  assert.ok(result.requests > 0 && result.requests <= server.requests)
  assert.ok(result.rate > 0)
  assert.deepEqual(result.errors, noErrors())
  const none = await run(server, { signal: AbortSignal.abort() })
  assert.equal(none.requests, 0)
})
