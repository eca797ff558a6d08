import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '#shared/app-options.ts'
import { createOptions, INFO } from '#shared/testing/app.ts'
import { testApp, testBehind, testLoggedRoute } from '../../../packages/shared/test/app.ts'
import { testPageQueue } from '../../../packages/shared/test/page-under-load.ts'
import { failing } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { drain } from '../src/drain.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

const start = (options: AppOptions) => serve(options, failing)
testApp(start)
testPageQueue((options: AppOptions) => serve(options, ssr))
testLoggedRoute((options: AppOptions) =>
  serve(options, () => ({ '/users/:user/items/:item': () => new Response('item') })),
)

test('a fetched response gets the headers, and the id of this request', async () => {
  const headers = { 'x-request-id': 'another', 'referrer-policy': 'origin' }
  using upstream = Bun.serve({ port: 0, fetch: () => new Response('fetched', { headers }) })
  await using app = await serve(createOptions(), () => ({ '/fetched': () => fetch(upstream.url) }))
  const response = await fetch(`${app.url}/fetched`, { headers: { 'x-request-id': 'r-1' } })
  expect(await response.text()).toBe('fetched')
  const names = ['x-request-id', 'referrer-policy', 'x-content-type-options']
  expect(names.map((name) => response.headers.get(name))).toEqual(['r-1', 'origin', 'nosniff'])
})

test('a keep-alive timeout is rounded up to whole seconds; Bun takes no more than 255, which is said', async () => {
  expect(createApp(createOptions({ KEEP_ALIVE_TIMEOUT_MS: '21500' }), () => ({})).idleTimeout).toBe(22)
  const long = { KEEP_ALIVE_TIMEOUT_MS: '300000', HANDLER_TIMEOUT_MS: '256000' }
  const { readLines, ...options } = createOptions(long)
  expect(createApp(options, () => ({})).idleTimeout).toBe(255)
  const warned = (await readLines(2)).map(({ msg }) => msg.replace(/ is.* for/, ' for'))
  expect(warned).toEqual(['KEEP_ALIVE_TIMEOUT_MS for 255 s', 'HANDLER_TIMEOUT_MS for 255 s'])
})

test('a file as a route is left to Bun', async () => {
  const file = Bun.file(import.meta.path)
  await using app = await serve(createOptions(), () => ({ '/file': file, '/no-file': Bun.file('/nowhere') }))
  expect(await (await fetch(`${app.url}/file`)).text()).toBe(await file.text())
  expect((await fetch(`${app.url}/no-file`)).status).toBe(404)
})

const CHUNKED = `transfer-encoding: chunked\r\n\r\n20000\r\n${'x'.repeat(0x20000)}\r\n`

for (const [what, body] of [
  ['that leaves while its body is read', 'content-length: 10\r\n\r\nhalf'],
  ['whose chunked body is too large', CHUNKED],
] as const)
  test(`a client ${what} is no failure`, async () => {
    const { readLines, ...options } = createOptions()
    const { promise: called, resolve: call } = Promise.withResolvers<void>()
    const read = () => ({
      '/read': async (request: Request) => {
        call()
        return new Response(await request.bytes())
      },
    })
    await using app = await serve(options, read)
    const socket = connect(Number(app.server.port), '127.0.0.1')
    socket.write(`POST /read HTTP/1.1\r\nhost: a\r\n${body}`)
    await (body.endsWith('half') ? called : once(socket, 'data'))
    socket.destroy()
    const lines = await readLines(1)
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([[INFO, 'request completed']])
  })

test('a client that never reads is cut, and its stream ends', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  async function* endless() {
    try {
      for (;;) yield 'x'.repeat(65_536)
    } finally {
      end()
    }
  }
  const streams = () => ({ '/endless': () => new Response(endless()) })
  await using app = await serve(createOptions(), streams, { idleTimeout: 1 })
  const socket = connect(Number(app.server.port), '127.0.0.1').pause()
  socket.write('GET /endless HTTP/1.1\r\nhost: a\r\n\r\n')
  await ended
  socket.destroy()
})

test('a drain answers what is under way and what comes after it, and tells these clients that the connection ends', async () => {
  const options = createOptions({ KEEP_ALIVE_TIMEOUT_MS: '255000' }) // `drain` does not wait for it
  await using app = await serve(options, () => ({
    '/slow': async () => new Response(await sleep(200, 'slow')),
    '/begun': () => new Response(stream()),
  }))
  const half = connect(Number(app.server.port), '127.0.0.1').on('error', () => {})
  half.write('GET / HTT')
  const slow = fetch(`${app.url}/slow`)
  const begun = await fetch(`${app.url}/begun`)
  const drained = drain(app.server)
  const late = fetch(`${app.url}/livez`)
  expect(await begun.text()).toBe('begun, ended')
  const next = fetch(`${app.url}/livez`)
  for (const response of await Promise.all([slow, late, next]))
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
  await drained
  await expect(fetch(app.url)).rejects.toThrow()
})

async function* stream() {
  yield 'begun, '
  await sleep(700)
  yield 'ended'
}

// The peer is always 127.0.0.1 here. `testForwarded` has others, for the apps on Node.
for (const [what, TRUST_PROXY, client, isTrusted] of [
  ['a trusted proxy', 'loopback', '203.0.113.7', true],
  ['a peer that is not trusted', '10.0.0.0/8', '127.0.0.1', false],
  ['a peer without TRUST_PROXY', '', '127.0.0.1', false],
] as const)
  testBehind(start, what, TRUST_PROXY, '192.0.2.1, 203.0.113.7', client, isTrusted)

test('nothing has failed if the client leaves, or asks for the headers only', async () => {
  const { readLines, ...options } = createOptions()
  await using app = await serve(options, ssr)
  const leaving = new AbortController()
  const stream = await fetch(`${app.url}/stream?delay=5000`, { signal: leaving.signal })
  await stream.body?.getReader().read()
  leaving.abort()
  const response = await fetch(`${app.url}/stream?delay=1`, { method: 'HEAD' })
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe('')
  await (await fetch(`${app.url}/stream?delay=20`)).text()
  const told = (await readLines(3)).map(({ level, method }) => `${level} ${method}`)
  expect(told).toEqual([`${INFO} GET`, `${INFO} HEAD`, `${INFO} GET`])
})
