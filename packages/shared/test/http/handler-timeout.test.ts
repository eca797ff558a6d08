import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { createHandlerTimeout, IDLE_MS } from '../../src/http/handler-timeout.ts'
import { PROBLEM_JSON } from '../../src/http/problem.ts'
import { SERVER_OPTIONS } from '../../src/http/protect.ts'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { readConfig } from '../../src/process/config.ts'
import { listen } from '../../src/process/lifecycle.ts'

const LIMIT = { timeout: 120_000 }

/** A server with that handler and a limit of 400 ms, and what it logs. */
async function setUp(handle: (response: ServerResponse) => void, bodyMs?: number) {
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const server = createServer(SERVER_OPTIONS, (_request, response) => {
    startHandlerTimeout(response)
    handle(response)
  })
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  const startHandlerTimeout = createHandlerTimeout(sockets, 400, log, bodyMs)
  const address = await listen(server, readConfig({ PORT: '0' }))
  const { port } = new URL(address)
  return {
    lines,
    sockets,
    address,
    port: Number(port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test(
  'a handler that never responds: 503, one line with the id, and the connection closes',
  LIMIT,
  async () => {
    const closed = new EventEmitter()
    await using server = await setUp((response) => response.once('close', () => closed.emit('close')))
    const toldHandler = once(closed, 'close')
    const response = await fetch(`${server.address}/x`, { headers: { 'x-request-id': 'r-1' } })
    equal(response.status, 503)
    equal(await response.text(), '{"type":"about:blank","title":"Service Unavailable","status":503}')
    const { date, ...headers } = Object.fromEntries(response.headers)
    deepEqual(headers, {
      ...SECURITY_HEADERS,
      'x-request-id': 'r-1',
      'content-type': PROBLEM_JSON,
      'content-length': '65',
      connection: 'close',
    })
    match(String(date), / GMT$/)
    await toldHandler
    deepEqual(
      server.lines.map(({ requestId, msg }) => [requestId, msg]),
      [['r-1', 'failed']],
    )
    match(JSON.stringify(server.lines), /The handler of GET \/x was silent for 400 ms\./)
  },
)

test('HEAD: the same head', LIMIT, async () => {
  await using server = await setUp(() => {})
  const response = await fetch(server.address, { method: 'HEAD' })
  deepEqual([response.status, response.headers.get('content-length')], [503, '65'])
})

test('a response that comes too late is dropped', LIMIT, async () => {
  const { promise: responded, resolve } = Promise.withResolvers<void>()
  await using server = await setUp(async (response) => {
    await sleep(900)
    response.writeHead(200, { 'content-type': 'text/plain' }).end('late')
    resolve()
  })
  equal((await fetch(server.address)).status, 503)
  await responded
  equal(server.lines.length, 1)
})

test('a response that began and then stops is cut', LIMIT, async () => {
  await using server = await setUp((response) => response.write('half'))
  const response = await fetch(server.address)
  await rejects(response.text())
  equal(server.lines.length, 1)
})

test('a response that goes on is not, however long it takes', LIMIT, async () => {
  await using server = await setUp(async (response) => {
    for (let part = 0; part < 16; part++) {
      response.write('x')
      await sleep(50)
    }
    response.end()
  })
  equal(await (await fetch(server.address)).text(), 'xxxxxxxxxxxxxxxx')
  deepEqual(server.lines, [])
})

test('a client that reads slowly, or sends slowly, is no fault of the handler', LIMIT, async () => {
  const body = 'x'.repeat(20_000_000)
  await using server = await setUp((response) => {
    response.req.resume().once('end', () => {
      response.write(body)
      setTimeout(() => response.end('end'), 900)
    })
  })
  const sending = request(server.address, { method: 'POST', headers: { 'content-length': 2 } })
  sending.write('a')
  await sleep(900)
  sending.end('b')
  const [response] = await once(sending, 'response')
  await sleep(900)
  equal((await text(response)).length, body.length + 3)
  deepEqual(server.lines, [])
})

test('a body that arrives too slowly: 408; one of enough bytes per second is read', LIMIT, async () => {
  await using server = await setUp((response) => {
    text(response.req).then(
      (body) => response.end(body),
      () => {},
    )
  }, 300)
  const send = async (part: string) => {
    const sending = request(server.address, {
      method: 'POST',
      headers: { 'content-length': part.length * 10 },
    })
    sending.on('error', () => {})
    const responded = once(sending, 'response')
    for (let sent = 0; sent < 10; sent++) {
      sending.write(part)
      await sleep(150)
    }
    const [{ statusCode }] = await responded
    return statusCode
  }
  deepEqual(await Promise.all([send('x'), send('x'.repeat(1_000))]), [408, 200])
  deepEqual(server.lines, [])
})

test(
  'an event stream may be silent, also for the socket timeout; another stream may not',
  LIMIT,
  async () => {
    await using server = await setUp((response) => {
      const type = response.req.url === '/events' ? 'text/event-stream; charset=utf-8' : 'text/plain'
      response.writeHead(200, { 'Content-Type': type }).write('first')
      if (response.req.url === '/events') setTimeout(() => response.end('last'), 1_500)
    })
    const events = await fetch(`${server.address}/events`)
    await rejects((await fetch(`${server.address}/other`)).text())
    equal(
      server.sockets.some(({ timeout }) => timeout === 0),
      true,
    )
    equal(await events.text(), 'firstlast')
    equal(server.lines.length, 1)
  },
)

test(
  'a connection with a slow response has a shorter limit for traffic, and afterwards that of idle ones again',
  LIMIT,
  async () => {
    const { promise: given, resolve } = Promise.withResolvers<ServerResponse>()
    await using server = await setUp(resolve)
    const client = connect(server.port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const response = await given
    const { socket } = response.req
    const limit = (): number | undefined => socket.timeout
    while (limit() !== 10_400) await sleep(20)
    response.end('x')
    while (limit() !== IDLE_MS) await sleep(20)
    client.destroy()
  },
)
