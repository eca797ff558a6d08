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

/** Milliseconds in which nothing is sent until idle connections are closed, less a look; and until those that have sent nothing are. */
const QUIET_MS = 500
const LINGER_MS = 2_000

/** More than the buffers of a connection hold. */
const LARGE = Buffer.alloc(20_000_000)

/** A server whose `/slow` waits until it is released, `/begun` after its head; and a client with one kept connection. */
async function setUp() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
  const server = createServer(OPTIONS, async (request, response) => {
    if (request.url === '/begun') response.write('part of the ')
    if (request.url === '/slow' || request.url === '/begun') {
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

/** Drains to where the next look would close what is idle. The timers of `node:timers/promises` go on. */
async function drainQuietly(t: TestContext, server: Server): Promise<{ drained: Promise<void> }> {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.after(() => server.closeAllConnections())
  const drained = drain(server)
  t.mock.timers.tick(QUIET_MS)
  await turn()
  return { drained }
}

/** Lets the server read and write what there is. */
async function turn(): Promise<void> {
  for (let count = 0; count < 3; count++) await new Promise(setImmediate)
}

test('a request in flight is waited for and says that its connection ends, and new connections are refused', async () => {
  const { server, address, ask, said, entered, release } = await setUp()
  const order: string[] = []
  const response = ask('/slow')
  await entered
  const drained = drain(server).then(() => order.push('drained'))
  const late = connect(Number(new URL(address).port), '127.0.0.1')
  await rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
  await sleep(700) // well past the quiet time
  order.push('released')
  release()
  equal(await response, 'response to /slow')
  await drained
  deepEqual([order, said], [['released', 'drained'], ['close']])
})

test('a response that has begun cannot say so, and the next request of its connection gets a response', async () => {
  const { server, ask, said, sockets, entered, release } = await setUp()
  const response = ask('/begun')
  await entered
  const drained = drain(server)
  release()
  equal(await response, 'part of the response to /begun')
  await sleep(300) // looks at which it was idle
  equal(await ask('/second'), 'response to /second')
  await drained
  deepEqual([sockets.size, said], [1, ['keep-alive', 'close']])
})

for (const [when, early] of [
  ['before', 2],
  ['while', 1],
  ['after', 0],
] as const) {
  test(`of requests that a client has sent one after the other ${when} the drain begins, only the last response says that the connection ends`, async () => {
    const { server, address, release } = await setUp()
    const client = await openTo(server, address)
    const send = async (count: number) => {
      for (; count > 0; count--) {
        client.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
        await once(server, 'request')
      }
    }
    await send(early)
    const drained = drain(server)
    await send(2 - early)
    release()
    const received = (await text(client)).toLowerCase()
    await drained
    const parts = received.match(/connection: close|response to \/slow/g)
    deepEqual(parts, ['response to /slow', 'connection: close', 'response to /slow'])
  })
}

test('a response that its client still reads is complete', async () => {
  const { server, address } = await setUp()
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  get(`${address}/large`, resolve)
  const response = await promise
  const drained = drain(server)
  await sleep(700) // well past the quiet time
  equal((await buffer(response)).length, LARGE.length)
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

test('a first request that arrived while the process stood still is not cut with silent connections', async (t) => {
  const { server, address } = await setUp()
  const client = await openTo(server, address)
  const { drained } = await drainQuietly(t, server)
  await sleep(1) // goes on among Node's timers, where the drain looks for silent ones
  client.write('GET /late HTTP/1.1\r\nhost: a\r\n\r\n')
  t.mock.timers.tick(LINGER_MS)
  match(await nextOn(client), /response to \/late/)
  await drained
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

test('connections that the kernel has accepted are accepted before listening stops, also by a slow process', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => (now += 100)) // once per turn of the event loop
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
