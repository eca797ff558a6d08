import { deepEqual, equal, match } from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { protect, SERVER_OPTIONS } from '../../src/http/protect.ts'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { readConfig } from '../../src/process/config.ts'
import { listen } from '../../src/process/lifecycle.ts'

const LIMIT = { timeout: 120_000 }

async function setUp(
  t: TestContext,
  listener: RequestListener = (request, response) => response.end(JSON.stringify(request.headers)),
) {
  const config = readConfig({ PORT: '0', HANDLER_TIMEOUT_MS: '400' })
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const server = protect(createServer(SERVER_OPTIONS, listener), { config, log })
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
  return { url, port, lines, server, send }
}

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

const LAST = 'GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

/** Sends a request and another one behind it. @returns the statuses that came, and what the listener saw */
async function sendBoth(t: TestContext, request: string) {
  const seen: string[] = []
  const { send, lines } = await setUp(t, ({ url, headers: { host } }, response) => {
    seen.push(`${host} ${url}`)
    response.setHeader('content-length', 0).end()
  })
  const received = await send(request + LAST)
  return { statuses: received.match(/(?<=^HTTP\/1\.1 )\d+/gm)?.map(Number), seen, lines }
}

const SERVED: [request: string, seen: string][] = [
  ['GET /a HTTP/1.1\r\nhost: a\r\n\r\n', 'a /a'],
  ['GET /a HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n', 'a /a'],
  ['POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n', 'a /a'],
  ['GET http://b:80/a?b HTTP/1.1\r\nhost: a\r\n\r\n', 'b:80 /a?b'],
  ['GET HTTPS://b/a HTTP/1.1\r\nhost: a\r\n\r\n', 'b /a'],
  ['GET http://b HTTP/1.1\r\nhost: a\r\n\r\n', 'b /'],
  ['GET http://b?c HTTP/1.1\r\nhost: a\r\n\r\n', 'b /?c'],
]

for (const [request, line] of SERVED) {
  test(`serves ${JSON.stringify(request)}`, LIMIT, async (t) => {
    const { statuses, seen } = await sendBoth(t, request)
    deepEqual(statuses, [200, 200])
    deepEqual(seen, [line, 'a /last'])
  })
}

const REFUSED: [request: string, status?: number][] = [
  ['GET /a HTTP/0.9\r\nhost: a\r\n\r\n'],
  ['GET /a\nhost: a\r\n\r\n'],
  ['GET /a HTTP/2.0\r\nhost: a\r\n\r\n'],
  ['POST /a HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: identity\r\n\r\n'],
  ['GET * HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['GET ftp://b/a HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['GET http:///a HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['GET http://b@c/a HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['GET http://b/a HTTP/1.1\r\nhost: a\r\nhost: c\r\n\r\n'],
  ['GET http://b/a HTTP/1.1\r\nhost: x@c\r\n\r\n'],
  ['POST /a HTTP/1.1\r\nhost: a\r\nexpect: x\r\n\r\n', 417],
  ['POST /a HTTP/1.1\r\nhost: a\r\nexpect: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  [
    'POST /a HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  ],
]

for (const [request, status = 400] of REFUSED) {
  test(`refuses ${JSON.stringify(request)}, logs it, and reads nothing behind it`, LIMIT, async (t) => {
    const { statuses, seen, lines } = await sendBoth(t, request)
    deepEqual(statuses, [status])
    deepEqual(seen, [])
    deepEqual(
      lines.map((line) => line.status),
      [status],
    )
  })
}

test(
  'what the parser refuses: a problem, nothing in the log, and the connection closes',
  LIMIT,
  async (t) => {
    const { send, lines } = await setUp(t)
    const cases = [
      ['not HTTP\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ] as const
    for (const [request, status] of cases)
      match(
        await send(request),
        new RegExp(`HTTP/1\\.1 ${status} [\\s\\S]*connection: close[\\s\\S]*"status":${status}}$`),
      )
    deepEqual(lines, [])
  },
)

test('what is not HTTP behind a response that has begun cuts it', LIMIT, async (t) => {
  const { port } = await setUp(t, (_request, response) => response.write('half'))
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  socket.once('data', () => socket.write('not HTTP\r\n\r\n'))
  match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[\s\S]*half\r\n$/)
})

test('an error in a body: the response and the log of its request have that status', LIMIT, async (t) => {
  const statuses: number[] = []
  const { send } = await setUp(t, (request, response) => {
    request.resume().on('error', () => {})
    response.once('close', () => statuses.push(response.statusCode))
  })
  const start = 'POST / HTTP/1.1\r\nhost: a\r\nx-request-id: r-1\r\ntransfer-encoding: chunked\r\n\r\n'
  match(await send(`${start}zz\r\n`), /^HTTP\/1\.1 400 [\s\S]*x-request-id: r-1\r\n/)
  match(await send(`${start}1;${'x'.repeat(17_000)}\r\n`), /^HTTP\/1\.1 413 /)
  while (statuses.length < 2) await sleep(10)
  deepEqual(statuses, [400, 413])
})

test('Expect: 100-continue gets its 100 after the responses before it', LIMIT, async (t) => {
  const { send } = await setUp(t, async (request, response) => {
    if (request.method === 'GET') await sleep(20)
    response.end(await text(request))
  })
  const first = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const second =
    'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\nbody'
  deepEqual((await send(first + second)).match(/(?<=^HTTP\/1\.1 )\d+/gm), ['200', '100', '200'])
})

test('an upgrade reaches the listener of the app, unless the request is ambiguous', LIMIT, async (t) => {
  const { server, send } = await setUp(t)
  const upgrade = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n'
  match(await send(`${upgrade}connection: close\r\n\r\n`), /^HTTP\/1\.1 200 /)
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  match(await send(`${upgrade}\r\n`), /^HTTP\/1\.1 101 /)
  match(await send(`${upgrade}host: b\r\n\r\n`), /^HTTP\/1\.1 400 /)
  match(await send(`${upgrade}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`), /^HTTP\/1\.1 400 /)
})

test(
  'a client that does not read gets one response at a time, and all of them when it reads',
  LIMIT,
  async (t) => {
    const body = Buffer.alloc(1_000_000, 'x')
    const count = 200
    let started = 0
    const { port } = await setUp(t, (_request, response) => {
      started++
      response.end(body)
    })
    const client = connect(port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(count - 1) + LAST)
    // The kernel takes some megabytes. Then nothing happens any more.
    for (let before = -1; before !== started || started === 0; await sleep(200)) before = started
    equal(started < 50, true, `${started} of ${count}`)
    let bytes = 0
    for await (const chunk of client) bytes += chunk.length
    equal(started, count)
    equal(bytes > count * body.length, true)
  },
)

test('requests in a pipeline are handled in order, each in its own context', LIMIT, async (t) => {
  const context = new AsyncLocalStorage<string>()
  const { send, server } = await setUp(t, async (request, response) => {
    await sleep(request.url === '/1' ? 50 : 1)
    response.end(`${request.url} ${context.getStore()};`)
  })
  // As tracers do.
  const { emit } = server
  server.emit = (name: string, ...rest: unknown[]) =>
    context.run(name === 'request' ? String((rest[0] as IncomingMessage).url) : '', () =>
      emit.call(server, name, ...rest),
    )
  const received = await send(
    ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join('') + LAST,
  )
  deepEqual(received.match(/^\/.*(?=;)/gm), ['/1 /1', '/2 /2', '/3 /3', '/last /last'])
})

test('a pipeline behind a forgotten response ends with it', LIMIT, async (t) => {
  const { send } = await setUp(t, (request, response) => {
    if (request.url === '/last') response.end()
  })
  const received = await send(`GET /forgotten HTTP/1.1\r\nhost: a\r\n\r\n${LAST}`)
  equal(received.match(/HTTP\/1\.1/g)?.length, 1)
  match(received, /^HTTP\/1\.1 503 /)
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
