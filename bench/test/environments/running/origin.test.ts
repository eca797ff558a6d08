import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import {
  addressOf,
  assertResponding,
  isLoopback,
  readOrigin,
  whySilent,
} from '../../../src/environments/running/origin.ts'

test('an origin is read with or without a slash, a port and brackets', () => {
  assert.equal(readOrigin('http://10.0.0.9:3000/'), 'http://10.0.0.9:3000')
  assert.equal(readOrigin('http://APP.example'), 'http://app.example')
  assert.deepEqual(addressOf('http://10.0.0.9:3000'), { host: '10.0.0.9', port: 3000 })
  assert.deepEqual(addressOf('http://app.example'), { host: 'app.example', port: 80 })
  assert.deepEqual(addressOf('http://[::1]:8080'), { host: '::1', port: 8080 })
})

const REFUSED: [text: string, sentence: RegExp][] = [
  ['https://app.example', /speaks HTTP\/1\.1 without TLS: give the http:\/\/ address of the app itself/],
  ['http://app.example/json', /must have no path, .*: give http:\/\/app\.example and --role\.$/],
  ['http://app.example/?a=1', /must have no path/],
  ['http://app.example/#a', /must have no path/],
  ['10.0.0.9:3000', /must be an http:\/\/ address, such as/],
  ['ftp://app.example', /must be an http:\/\/ address/],
  ['', /must be an http:\/\/ address/],
]

for (const [text, sentence] of REFUSED) {
  test(`refused: '${text}'`, () => {
    assert.throws(
      () => readOrigin(text),
      (error: Error) => error instanceof UsageError && sentence.test(error.message),
    )
  })
}

test('a password is refused, and not repeated', () => {
  assert.throws(
    () => readOrigin('http://me:secret@app.example'),
    (error: Error) => /password/.test(error.message) && !error.message.includes('secret'),
  )
})

test('loopback is this machine', () => {
  const here = ['http://127.0.0.1:3000', 'http://127.9.9.9', 'http://[::1]:3000', 'http://localhost:3000']
  const there = ['http://10.0.0.9:3000', 'http://[::2]', 'http://app.example', 'http://128.0.0.1']
  assert.deepEqual(
    here.map(isLoopback),
    here.map(() => true),
  )
  assert.deepEqual(
    there.map(isLoopback),
    there.map(() => false),
  )
})

describe('who responds', () => {
  test('any status is a response', () =>
    listening(
      createHttpServer((_request, response) => response.writeHead(404).end()),
      async (origin) => {
        assert.equal(await whySilent(origin), null)
        await assertResponding(origin)
      },
    ))

  test('nobody there', async () => {
    const origin = await listening(createServer(), async (gone) => gone)
    await assert.rejects(assertResponding(origin), {
      name: 'UsageError',
      message: `${origin} does not respond (ECONNREFUSED): start the app there, or give --target the address that it listens on.`,
    })
  })

  test('somebody who says nothing', () =>
    listening(createServer(), async (origin) => {
      assert.equal(await whySilent(origin, { patienceMs: 100 }), 'nothing came in time')
    }))

  test('somebody who speaks something else', () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))
    return listening(server, async (origin) => {
      assert.equal(await whySilent(origin), 'what it says is not HTTP/1.1')
    })
  })

  test('after an abort nothing is said of anybody', () =>
    listening(createServer(), async (origin) => {
      assert.equal(await whySilent(origin, { signal: AbortSignal.abort() }), null)
    }))
})

async function listening<Value>(server: Server, use: (origin: string) => Promise<Value>): Promise<Value> {
  const sockets = new Set<{ destroy(): unknown }>()
  server.on('connection', (socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}
