import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { exactly, LoadError, runLoad } from '../src/index.ts'
import { rawResponse, serve } from '../src/instrument/raw-server.ts'
import { noErrors } from '../src/report/result.ts'

async function listening(server: Server): Promise<{ host: string; port: number }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

test('a pipeline: so many requests at once on each connection, with responses in order', async () => {
  const waiting = new Map<object, number>()
  let most = 0
  await using server = await serve((socket, n) => {
    const count = (waiting.get(socket) ?? 0) + 1
    most = Math.max(most, count)
    waiting.set(socket, count)
    if (count > 1) return
    setTimeout(() => {
      socket.write(rawResponse(`${n % 10}`).repeat(waiting.get(socket) ?? 0))
      waiting.set(socket, 0)
    }, 1)
  })
  const result = await runLoad({
    target: server.target,
    path: '/',
    connections: 3,
    pipeline: 8,
    durationMs: 150,
    expect: { body: { length: 1 }, checkEvery: 3 },
  })
  assert.deepEqual(result.errors, noErrors())
  assert.equal(result.requests, server.requests)
  assert.equal(result.bytes, server.requests * rawResponse('0').length)
  assert.ok(result.checked > result.requests / 6 && result.checked < result.requests)
  assert.equal(most, 8)
  assert.equal(server.connections, 3)
})

test('a generator that shares its core sends all, and counts each response once', async () => {
  for (const pace of [{}, { rate: 500, arrivals: 'constant' }] as const) {
    await using server = await serve((socket) => setTimeout(() => socket.write(rawResponse('x')), 1))
    const plan = { target: server.target, path: '/', connections: 3, requests: 100, ...pace }
    const result = await runLoad({ ...plan, sharesCore: true })
    assert.deepEqual(result.errors, noErrors())
    assert.equal(result.requests, 100)
    assert.equal(server.requests, 100)
  }
})

test('a pipeline behind an announced close is sent again, and nothing is lost', async () => {
  // Every fifth response closes; what was sent behind it is never read.
  await using server = createServer((_request, response) => response.end('hi'))
  server.maxRequestsPerSocket = 5
  const target = await listening(server)
  for (const pace of [{}, { rate: 2_000, arrivals: 'constant' }] as const) {
    const plan = { target, path: '/', connections: 4, pipeline: 4, requests: 203, ...pace }
    const result = await runLoad(plan)
    // Node responds with 503 to what arrives on such a connection nevertheless.
    assert.equal(result.requests, 203, JSON.stringify(result.errors))
    assert.deepEqual(result.errors, noErrors())
  }
})

test('a pipeline whose connection breaks loses all that was in flight', async () => {
  await using server = await serve((socket, n) => {
    if (n % 4 === 3) socket.resetAndDestroy()
  })
  const result = await runLoad({
    target: server.target,
    path: '/',
    connections: 1,
    pipeline: 4,
    durationMs: 50,
  })
  assert.equal(result.requests, 0)
  assert.ok(result.errors.reset >= 4)
  assert.equal(result.errors.reset % 4, 0)
})

test('a connection per request', async () => {
  const heads: string[] = []
  await using server = await serve((socket, _n, head) => {
    heads.push(head)
    socket.end(rawResponse('hi'))
  })
  const result = await runLoad({
    target: server.target,
    path: '/',
    connections: 4,
    newConnections: true,
    requests: 50,
    expect: { body: exactly('hi'), checkEvery: 1 },
  })
  assert.deepEqual(result.errors, noErrors())
  assert.deepEqual([result.requests, result.checked, server.connections], [50, 50, 50])
  for (const head of heads) assert.match(head, /\r\nconnection: close(?:\r\n|$)/)
})

test('exactly so many requests are sent, by few connections or many', async () => {
  for (const [connections, requests] of [
    [3, 100],
    [50, 7],
  ] as const) {
    await using server = await serve((socket) => socket.write(rawResponse('hi')))
    const result = await runLoad({ target: server.target, path: '/', connections, requests })
    assert.equal(server.requests, requests)
    assert.equal(result.requests, requests)
    assert.deepEqual(result.errors, noErrors())
  }
})

test('so many requests end also if nobody responds any more', async () => {
  const server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 20) void server[Symbol.asyncDispose]()
  })
  const result = await runLoad({ target: server.target, path: '/', connections: 2, requests: 60 })
  assert.ok(result.requests > 0 && result.requests < 60)
  assert.ok(result.errors.connect > 0)
})

test('bodies arrive whole, whatever their size', async () => {
  const body = `${'é'.repeat(100_000)}!`
  const bodies = new Set<string>()
  await using server = createServer(async (request, response) => {
    const digest = createHash('sha256')
      .update(await buffer(request))
      .digest('hex')
    bodies.add(`${request.method} ${request.headers['content-length']} ${digest}`)
    response.end('hi')
  })
  const target = await listening(server)
  const result = await runLoad({ target, path: '/', method: 'POST', body, connections: 2, requests: 20 })
  assert.equal(result.requests, 20)
  assert.deepEqual(result.errors, noErrors())
  const sha256 = createHash('sha256').update(body).digest('hex')
  assert.deepEqual([...bodies], [`POST 200001 ${sha256}`])
})

test('paths of a list and random parts reach the server; each has its own right response', async () => {
  const seen = new Set<string>()
  await using server = await serve((socket, _n, head) => {
    const [, path = ''] = head.split(' ')
    seen.add(path)
    socket.write(rawResponse(path))
  })
  const plan = { target: server.target, connections: 2, requests: 300 }
  const path = ['/one', '/other/two']
  const body = path.map((text) => exactly(text))
  const right = await runLoad({ ...plan, path, expect: { body, checkEvery: 1 } })
  assert.deepEqual(right.errors, noErrors())
  assert.equal(right.checked, 300)
  const swapped = await runLoad({ ...plan, path, expect: { body: body.toReversed(), checkEvery: 1 } })
  assert.equal(swapped.errors.body, 300)
  assert.deepEqual(seen, new Set(path))
  seen.clear()
  await runLoad({ ...plan, path: '/x/{int:1-4}' })
  assert.deepEqual([...seen].sort(), ['/x/1', '/x/2', '/x/3', '/x/4'])
})

test('the right response is learnt before the load, for each path', async () => {
  let asked = 0
  await using server = await serve((socket, n, head) => {
    asked = n + 1
    const [, path = ''] = head.split(' ')
    // Wrong from the tenth request on, of the same length.
    socket.write(rawResponse(n < 10 ? path : path.toUpperCase()))
  })
  const expect = { learn: true, checkEvery: 1 }
  const plan = { target: server.target, path: ['/one', '/other'], connections: 1, requests: 28 }
  const result = await runLoad({ ...plan, expect })
  assert.equal(asked, 30, 'one request for each path came before')
  assert.deepEqual(result.errors, { ...noErrors(), body: 20 })
  assert.equal(result.checked, 28)
})

test('nothing is learnt from a wrong response, or from none', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('no', { status: '404 No' })))
  const plan = { target: server.target, path: '/x', connections: 1, requests: 1, expect: { learn: true } }
  await assert.rejects(
    runLoad(plan),
    /^LoadError: The first response to \/x has the status 404, not 200: .*\.$/,
  )
  await using silent = await serve(() => {})
  await assert.rejects(
    runLoad({ ...plan, target: silent.target, timeoutMs: 50 }),
    /^LoadError: The first response to \/x did not come: nothing within 50 ms\.$/,
  )
  await using short = await serve((socket) => socket.end(rawResponse('hello').slice(0, -1)))
  await assert.rejects(
    runLoad({ ...plan, target: short.target }),
    /^LoadError: The first response to \/x broke off/,
  )
})

test('what the command line cannot say is refused with a sentence, too', async () => {
  const plan = { target: { host: '127.0.0.1', port: 1 }, path: '/', connections: 4, durationMs: 10 }
  for (const options of [
    { connections: 1.5 },
    { durationMs: undefined },
    { durationMs: Number.NaN },
    { requests: 5 },
    { warmupMs: -1 },
    { timeoutMs: 0 },
    { rate: Number.POSITIVE_INFINITY },
    { pipeline: 0 },
    { seed: 0.5 },
    { target: { host: '127.0.0.1', port: 65_536 } },
    { target: { socketPath: '' } },
    { path: [] },
    { path: 'x' },
    { path: '/ HTTP/1.1\r\nx: y' },
    { path: '/é' },
    { headers: { 'a b': 'c' } },
    { headers: { a: 'b\r\nc: d' } },
    { headers: { 'content-length': '5' } },
    { headers: { 'transfer-encoding': 'chunked' } },
    { method: 'HEAD', expect: { learn: true } },
    { method: 'HEAD', expect: { body: exactly('hi') } },
    { expect: { learn: true, body: exactly('x') } },
    { expect: { body: { length: -1 } } },
    { expect: { body: { ...exactly('hi'), length: 3 } } },
    { expect: { body: [exactly('x'), exactly('y')] } },
  ]) {
    // As a plan that comes from JSON may be.
    const wrong = { ...plan, ...options } as Parameters<typeof runLoad>[0]
    await assert.rejects(runLoad(wrong), (error) => {
      assert.ok(error instanceof LoadError, `${JSON.stringify(options)}: ${error}`)
      assert.match(error.message, /^[^\n]+[.]$/)
      return true
    })
  }
})
