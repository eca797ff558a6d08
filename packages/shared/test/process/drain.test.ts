import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http'
import { connect, Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { SERVER_OPTIONS } from '../../src/http/protect.ts'
import { readConfig } from '../../src/process/config.ts'
import { drain, trackConnections } from '../../src/process/drain.ts'
import { LINGER_MS, listen, QUIET_MS } from '../../src/process/lifecycle.ts'

/** Far below the keep-alive of `SERVER_OPTIONS`, for which a connection would hold the server open. */
const LIMIT = { timeout: 120_000 }

/** More than the buffers of a connection hold. */
const LARGE = Buffer.alloc(20_000_000)

/** A server whose `/slow` waits until it is released, and a client with one kept connection. */
async function setUp() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
  const server = createServer(SERVER_OPTIONS, async (request, response) => {
    if (request.url === '/slow') {
      enter()
      await released
    }
    response.end(request.url === '/large' ? LARGE : `response to ${request.url}`)
  })
  trackConnections(server)
  const address = await listen(server, readConfig({ PORT: '0' }))
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

test('nothing to wait for', LIMIT, async () => {
  const { server } = await setUp()
  await drain(server)
  equal(server.listening, false)
})

test(
  'a request in flight gets a response, and its kept connection does not hold the server open',
  LIMIT,
  async () => {
    const { server, ask, entered, release } = await setUp()
    const response = ask('/slow')
    await entered
    const drained = drain(server)
    release()
    equal(await response, 'response to /slow')
    await drained
  },
)

test('a request in flight is waited for', LIMIT, async () => {
  const { server, ask, entered, release } = await setUp()
  const order: string[] = []
  const response = ask('/slow')
  await entered
  const drained = drain(server).then(() => order.push('drained'))
  // Well past the quiet time and the first sweep.
  await sleep(300)
  order.push('released')
  release()
  equal(await response, 'response to /slow')
  await drained
  deepEqual(order, ['released', 'drained'])
})

test('a response that its client still reads is complete', LIMIT, async () => {
  const { server, address } = await setUp()
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  get(`${address}/large`, resolve)
  const response = await promise
  const drained = drain(server)
  await sleep(300) // well past the quiet time and the first sweep
  equal((await buffer(response)).length, LARGE.length)
  await drained
})

test(
  'a request on a connection that was idle when draining began gets a response, which ends it',
  LIMIT,
  async () => {
    const { server, ask, sockets, said } = await setUp()
    equal(await ask('/first'), 'response to /first')
    const drained = drain(server)
    equal(await ask('/second'), 'response to /second')
    equal(sockets.size, 1)
    deepEqual(said, ['keep-alive', 'close'])
    await drained
  },
)

test('the first request of a connection may be late, but is not waited for without end', LIMIT, async (t) => {
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

test('a request that arrived while the process stood still gets a response', LIMIT, async (t) => {
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

test('a connection that stays idle is closed', LIMIT, async () => {
  const { server, ask, sockets } = await setUp()
  await ask('/first')
  const closed = [...sockets].map((socket) => once(socket, 'close'))
  equal(closed.length, 1)
  await drain(server)
  await Promise.all(closed)
})

test('new connections are refused', LIMIT, async () => {
  const { server, address, ask, entered, release } = await setUp()
  const response = ask('/slow')
  await entered
  const drained = drain(server)
  await rejects(once(connect(Number(new URL(address).port), '127.0.0.1'), 'connect'), {
    code: 'ECONNREFUSED',
  })
  release()
  await Promise.all([response, drained])
})

test('a WebSocket that nobody closes does not hold the server open', LIMIT, async () => {
  const { server, address, ask } = await setUp()
  const wss = new WebSocketServer({ server })
  const ws = new WebSocket(address)
  await once(ws, 'open')
  const closed = once(ws, 'close')
  equal(await ask('/first'), 'response to /first')
  await drain(server)
  equal((await closed)[0], 1006) // no closing handshake
  wss.close()
})

test('an upgrade that nobody listens for is a request like any other', LIMIT, async () => {
  const { server, address } = await setUp()
  const [, response] = await once(
    new WebSocket(address).on('error', () => {}),
    'unexpected-response',
  )
  equal(response.statusCode, 200)
  response.destroy()
  await drain(server)
})

test('connections get no listener, and closed ones do not add up', LIMIT, () => {
  const server = createServer(SERVER_OPTIONS)
  const before = new Socket()
  server.emit('connection', before)
  const tracked = trackConnections(server)
  for (let count = 1000; count > 0; count--) {
    const socket = new Socket()
    server.emit('connection', socket)
    equal(socket.listenerCount('close'), before.listenerCount('close'))
    socket.destroy()
  }
  equal(tracked.size < 100, true)
})
