import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { addressOf, isHere, whySilent } from '../../../src/servers/command/origin.ts'

test('an origin is an address', () => {
  assert.deepEqual(addressOf('http://10.0.0.9:3000'), { host: '10.0.0.9', port: 3000 })
  assert.deepEqual(addressOf('http://app.example'), { host: 'app.example', port: 80 })
  assert.deepEqual(addressOf('http://[::1]:8080'), { host: '::1', port: 8080 })
  assert.deepEqual(addressOf('unix:/run/app.sock'), { socketPath: '/run/app.sock' })
})

test('the addresses of this machine are here, others are not', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost', ...own.map(({ address }) => address)])
    assert.ok(await isHere({ host, port: 80 }), host)
  assert.ok(await isHere({ socketPath: '/run/app.sock' }))
  for (const host of ['10.255.255.254', 'fd12::1']) assert.ok(!(await isHere({ host, port: 80 })), host)
})

describe('who responds', () => {
  test('any status is a response', () =>
    listening(
      createHttpServer((_request, response) => response.writeHead(404).end()),
      async (origin) => {
        assert.equal(await whySilent(origin), null)
      },
    ))

  test('nobody there', async () => {
    const origin = await listening(createServer(), async (gone) => gone)
    assert.equal(await whySilent(origin), 'nobody listens there')
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
