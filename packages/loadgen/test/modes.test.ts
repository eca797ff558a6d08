import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { exactly, LoadError, runLoad } from '../src/index.ts'
import { noErrors } from '../src/report/result.ts'
import { rawResponse, serve } from './raw-server.ts'

test('a generator that shares its core sends all, and counts each response once', async () => {
  for (const pace of [{}, { rate: 500 }]) {
    await using server = await serve((socket) => setTimeout(() => socket.write(rawResponse('x')), 1))
    const plan = { target: server.target, path: '/', connections: 3, durationMs: 100, ...pace }
    const result = await runLoad({ ...plan, sharesCore: true })
    assert.deepEqual(result.errors, noErrors())
    assert.equal(result.requests, server.requests)
  }
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
    durationMs: 60,
    expect: { body: exactly('hi'), checkEvery: 1 },
  })
  assert.deepEqual(result.errors, noErrors())
  const { requests } = server
  assert.ok(requests >= 4)
  assert.deepEqual([result.requests, result.checked, server.connections], [requests, requests, requests])
  for (const head of heads) assert.match(head, /\r\nconnection: close(?:\r\n|$)/)
})

test('bodies arrive whole, whatever their size', async () => {
  const body = `${'é'.repeat(100_000)}!`
  let requests = 0
  await using server = createServer(async (request, response) => {
    requests++
    const { method, headers } = request
    const isWhole = (await text(request)) === body
    response.end(`${method} ${headers['content-length']} ${isWhole}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const result = await runLoad({
    ...{ target, path: '/', method: 'POST', body, connections: 2, durationMs: 60 },
    expect: { body: exactly('POST 200001 true'), checkEvery: 1 },
  })
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
  const plan = { target: server.target, connections: 32, durationMs: 60 }
  const path = ['/one', '/other/two']
  const body = path.map((one) => exactly(one))
  const right = await runLoad({ ...plan, path, expect: { body, checkEvery: 1 } })
  assert.deepEqual(right.errors, noErrors())
  assert.equal(right.checked, right.requests)
  const swapped = await runLoad({ ...plan, path, expect: { body: body.toReversed(), checkEvery: 1 } })
  assert.equal(swapped.errors.body, swapped.requests)
  assert.deepEqual(seen, new Set(path))
  seen.clear()
  await runLoad({ ...plan, path: '/x/{int:1-4}' })
  assert.deepEqual([...seen].sort(), ['/x/1', '/x/2', '/x/3', '/x/4'])
})

test('a plan that cannot be used is refused with a sentence', async () => {
  const plan = { target: { host: '127.0.0.1', port: 1 }, path: '/', connections: 4, durationMs: 10 }
  for (const options of [
    { connections: 1.5 },
    { durationMs: Number.NaN },
    { durationMs: 0 },
    { expect: { checkEvery: 0 } },
    { expect: { status: 1 } },
    { warmupMs: -1 },
    { timeoutMs: 0 },
    { rate: Number.POSITIVE_INFINITY },
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
    { method: 'HEAD', expect: { body: exactly('hi') } },
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
