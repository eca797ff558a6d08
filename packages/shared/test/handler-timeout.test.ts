import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limitSilence } from '../src/handler-timeout.ts'
import { serve } from '../src/testing/options.ts'

const LIMIT = { timeout: 120_000 }

/** A server with that handler, which may be silent for 400 ms. */
const start = (handle: (response: ServerResponse) => unknown) =>
  serve((_request, response) => {
    response.setHeader('x-request-id', 'r-1')
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    limitSilence(response, 400)
    handle(response)
  })

test(
  'a handler that never responds: 503 with the headers so far, and the connection closes',
  LIMIT,
  async () => {
    await using server = await start(() => {})
    const response = await fetch(server.url)
    equal(response.status, 503)
    equal(await response.text(), '{"type":"about:blank","title":"Service Unavailable","status":503}')
    deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    deepEqual(Object.fromEntries(response.headers), {
      'set-cookie': 'b=2',
      'x-request-id': 'r-1',
      'content-type': 'application/problem+json',
      'content-length': '65',
      connection: 'close',
    })
  },
)

test('a response that comes too late is dropped, and the handler can make it', LIMIT, async () => {
  const { promise: responded, resolve } = Promise.withResolvers<void>()
  await using server = await start(async (response) => {
    await sleep(900)
    response.writeHead(200, { 'content-type': 'text/plain' }).end('late')
    resolve()
  })
  match(await (await fetch(server.url)).text(), /"status":503/)
  await responded
})

test('a response that began and then stops is cut', LIMIT, async () => {
  await using server = await start((response) => response.write('half'))
  await rejects((await fetch(server.url)).text())
})

test('a client that never reads is cut', LIMIT, async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using server = await start((response) => {
    response.once('close', resolve)
    response.write('x'.repeat(16_000_000)) // more than the kernel takes
  })
  const client = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await closed
  client.destroy()
})

test('a response that goes on is not, however long it takes', LIMIT, async () => {
  await using server = await start(async (response) => {
    for (let part = 0; part < 16; part++) {
      response.write('x')
      await sleep(50)
    }
    response.end()
  })
  equal(await (await fetch(server.url)).text(), 'xxxxxxxxxxxxxxxx')
})
