import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { IDLE_MS } from '../../src/http/handler-timeout.ts'
import { Health } from '../../src/http/health.ts'
import { protect, SERVER_OPTIONS } from '../../src/http/protect.ts'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { readConfig } from '../../src/process/config.ts'
import { listen } from '../../src/process/listen.ts'

const LIMIT = { timeout: 120_000 }

async function setUp(
  t: TestContext,
  listener: RequestListener = (request, response) => response.end(JSON.stringify(request.headers)),
) {
  const config = readConfig({ PORT: '0', HANDLER_TIMEOUT_MS: '400' })
  const health = new Health()
  const server = protect(createServer(listener), { config, health, log: pino({ level: 'silent' }) })
  const url = await listen(server, config)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = Number(new URL(url).port)
  /** Sends bytes and reads until the connection ends. */
  async function send(bytes: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(bytes)
    return text(socket)
  }
  return { url, health, server, send }
}

test('sets the limits of a server that exists already', LIMIT, async (t) => {
  const { server } = await setUp(t)
  const { keepAliveTimeout, headersTimeout, requestTimeout, timeout } = server
  deepEqual(
    [keepAliveTimeout, headersTimeout, requestTimeout, timeout],
    [0, SERVER_OPTIONS.headersTimeout, SERVER_OPTIONS.requestTimeout, IDLE_MS],
  )
})

test('a malformed target or Host: 400 with all headers, and the connection closes', LIMIT, async (t) => {
  let calls = 0
  const { send } = await setUp(t, (_request, response) => {
    calls++
    response.end()
  })
  for (const request of [
    'GET /%zz HTTP/1.1\r\nhost: a\r\nx-request-id: r-1\r\n\r\n',
    'GET /a#b HTTP/1.1\r\nhost: a\r\nx-request-id: r-1\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nx-request-id: r-1\r\n\r\n',
  ]) {
    const received = await send(request)
    match(received, /^HTTP\/1\.1 400 Bad Request\r\n/)
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'x-request-id': 'r-1' }))
      equal(received.includes(`${name}: ${value}\r\n`), true, name)
    match(received, /\r\nconnection: close\r\n/i)
    match(received, /"title":"Bad Request"/)
  }
  equal(calls, 0)
})

test('ambiguous HTTP and what the parser refuses: 400, and the connection closes', LIMIT, async (t) => {
  const { send } = await setUp(t)
  for (const request of [
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'not HTTP\r\n\r\n',
  ])
    match(await send(request), /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*connection: close\r\n/i)
})

test('the request has one acceptable id, in its headers and in its raw headers', LIMIT, async (t) => {
  const { url } = await setUp(t, (request, response) => {
    const raw = request.rawHeaders.filter(
      (_text, index, all) => all[index - 1]?.toLowerCase() === 'x-request-id',
    )
    response.end(JSON.stringify([request.headers['x-request-id'], ...raw]))
  })
  const send = async (headers: Record<string, string>) => (await fetch(url, { headers })).json()
  deepEqual(await send({ 'x-request-id': 'r-1' }), ['r-1', 'r-1'])
  const requests: Record<string, string>[] = [
    {},
    { 'x-request-id': 'two words' },
    { 'X-Request-Id': 'x'.repeat(65) },
  ]
  for (const headers of requests) {
    const [id, ...raw] = (await send(headers)) as string[]
    match(id ?? '', /^[\da-f]{32}$/)
    deepEqual(raw, [id])
  }
})

test('while draining, each response ends its connection', LIMIT, async (t) => {
  const { url, health } = await setUp(t)
  equal((await fetch(url)).headers.get('connection'), 'keep-alive')
  health.drain()
  equal(health.signal.aborted, true)
  equal((await fetch(url)).headers.get('connection'), 'close')
})

test(
  'a handler that is silent: 503; a stream that writes a comment now and then goes on',
  LIMIT,
  async (t) => {
    const { url } = await setUp(t, (request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let comments = 0
      const timer = setInterval(() => {
        comments++
        response.write(': still here\n\n')
        if (comments < 12) return
        clearInterval(timer)
        response.end('data: last\n\n')
      }, 100)
    })
    const silent = await fetch(`${url}/silent`)
    deepEqual([silent.status, silent.headers.get('connection')], [503, 'close'])
    match(await (await fetch(`${url}/events`)).text(), /data: last/)
  },
)
