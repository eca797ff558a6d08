import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Settings } from '../src/config.ts'
import { addressOf, drain, keepAccepting, serverOptions, trackConnections } from '../src/server.ts'

/** With a keep-alive far above the time limit of a test, so that a connection that stays would hold the server open. */
const OPTIONS = serverOptions(Settings.parse({ KEEP_ALIVE_TIMEOUT_MS: '600000' }))

/** Milliseconds until idle connections are closed, and until those that have sent nothing are. */
const QUIET_MS = 100
const LINGER_MS = 2_000

/** More than the buffers of a connection hold. */
const LARGE = Buffer.alloc(20_000_000)

/** A server whose `/slow` waits until it is released, and a client with one kept connection. */
async function setUp() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
  const server = createServer(OPTIONS, async (request, response) => {
    if (request.url === '/slow') {
      enter()
      await released
    }
    response.end(request.url === '/large' ? LARGE : `response to ${request.url}`)
  })
  await once(trackConnections(server).listen(0, '127.0.0.1'), 'listening')
  const address = addressOf(server)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<Socket>()
  /** The `connection` headers of the responses. */
  const said: (string | undefined)[] = []
  const ask = async (path: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get(address + path, { agent }, resolve)
      .once('error', reject)
      .once('socket', (socket) => sockets.add(socket))
    const response = await promise
    said.push(response.headers.connection)
    return text(response)
  }
  return { server, address, ask, said, sockets, entered, release }
}

/** A client's connection that the server has accepted. */
async function openTo(server: Server, address: string): Promise<Socket> {
  const accepted = once(server, 'connection')
  const client = connect(Number(new URL(address).port), '127.0.0.1')
  await accepted
  return client
}

/** What comes next, or `closed`. */
async function nextOn(client: Socket): Promise<string> {
  const closed = once(client, 'close').then(() => ['closed'])
  return String((await Promise.race([once(client, 'data'), closed]))[0])
}

/** Drains to where the first sweep is due. The timers of `node:timers/promises` go on. */
async function drainQuietly(t: TestContext, server: Server): Promise<{ drained: Promise<void> }> {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.after(() => server.closeAllConnections())
  const drained = drain(server)
  await sleep(QUIET_MS)
  await turn()
  return { drained }
}

/** Lets the server read and write what there is. */
async function turn(): Promise<void> {
  for (let count = 0; count < 3; count++) await new Promise(setImmediate)
}

test('a request in flight is waited for, and new connections are refused', async () => {
  const { server, address, ask, entered, release } = await setUp()
  const order: string[] = []
  const response = ask('/slow')
  await entered
  const drained = drain(server).then(() => order.push('drained'))
  const late = connect(Number(new URL(address).port), '127.0.0.1')
  await rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
  await sleep(300) // well past the quiet time and the first sweep
  order.push('released')
  release()
  equal(await response, 'response to /slow')
  await drained
  deepEqual(order, ['released', 'drained'])
})

test('a response that its client still reads is complete', async () => {
  const { server, address } = await setUp()
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  get(`${address}/large`, resolve)
  const response = await promise
  const drained = drain(server)
  await sleep(300) // well past the quiet time and the first sweep
  equal((await buffer(response)).length, LARGE.length)
  await drained
})

test('a connection that is idle gets one more response, which ends it', async () => {
  const { server, ask, sockets, said } = await setUp()
  equal(await ask('/first'), 'response to /first')
  const drained = drain(server)
  equal(await ask('/second'), 'response to /second')
  deepEqual([sockets.size, said], [1, ['keep-alive', 'close']])
  await drained
})

test('the first request of a connection may be late, but is not waited for without end', async (t) => {
  const { server, address } = await setUp()
  const late = await openTo(server, address)
  const silent = await openTo(server, address)
  const { drained } = await drainQuietly(t, server)
  const response = nextOn(late)
  t.mock.timers.tick(50)
  await turn()
  late.write('GET /late HTTP/1.1\r\nhost: a\r\n\r\n')
  match(await response, /response to \/late/)
  const closed = [late, silent].map((socket) => once(socket, 'close'))
  t.mock.timers.tick(LINGER_MS)
  await turn()
  t.mock.timers.tick(50)
  await Promise.all([drained, ...closed])
})

test('a request that arrived while the process stood still gets a response', async (t) => {
  const { server, address } = await setUp()
  const client = await openTo(server, address)
  const ask = (path: string) => client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  ask('/first')
  await once(client, 'data')
  const { drained } = await drainQuietly(t, server)
  ask('/second')
  t.mock.timers.tick(50)
  match(await nextOn(client), /response to \/second/)
  t.mock.timers.tick(50)
  await drained
})

test('a connection that stays idle is closed', async () => {
  const { server, ask, sockets } = await setUp()
  await ask('/first')
  const closed = [...sockets].map((socket) => once(socket, 'close'))
  equal(closed.length, 1)
  await drain(server)
  await Promise.all(closed)
})

test('connections that the kernel has accepted are accepted before listening stops', async () => {
  const { server, address } = await setUp()
  const clients = Array.from({ length: 30 }, () => connect(Number(new URL(address).port), '127.0.0.1'))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  const responses = clients.map((client) => {
    client.write('GET /queued HTTP/1.1\r\nhost: a\r\n\r\n')
    return nextOn(client)
  })
  await keepAccepting(server, 0)
  const drained = drain(server)
  for (const response of await Promise.all(responses)) match(response, /response to \/queued/)
  await drained
})
