import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as sendRequest,
} from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { ASSETS } from '#shared/page/server.js'
import { PROBLEM, type Problem } from '../src/problem.ts'
import { createOptions, ERROR, type Start } from '../src/testing/app.ts'

/** What the recipes of every framework promise. */

const directory = mkdtempSync(join(tmpdir(), 'recipes-'))
after(() => rmSync(directory, { recursive: true }))
const upstream = await startUpstream()

export const SETTINGS = {
  SESSION_SECRET: 'not a secret: it is only for tests',
  UPSTREAM_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`,
  DATABASE_FILE: join(directory, 'test.db'),
}

/** @param app the directory of the app @param start an app with the routes of all recipes */
export function testRecipes(app: string, start: Start): void {
  testBody(start)
  testSession(start)
  testEvents(start)
  testChat(start)
  testPings(start)
  testUpload(start)
  testStatic(app, start)
  testOpenFiles(app, start)
  testFailingFiles(app, start)
  testRelay(start)
  testRelayAbort(start)
  testRelayDeadline(start)
  testSecondPage(start)
  testDatabase(start)
}

/** A request with a body of JSON. */
const json = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
})

export function testBody(start: Start): void {
  test('body: a name is greeted; what is no name is 400 and named; 64 KiB are too much', async () => {
    await using app = await start(createOptions())
    const greet = (body: string) => fetch(`${app.url}/greetings`, json(body))
    const greeting = await greet('{"name":"Ada"}')
    deepEqual([greeting.status, await greeting.json()], [201, { hello: 'Ada' }])
    const unfit = await greet('{"name":""}')
    const { errors } = (await unfit.json()) as Problem
    deepEqual([unfit.status, errors?.[0]?.field], [400, 'name'])
    equal(unfit.headers.get('content-type')?.split(';')[0], PROBLEM)
    equal((await greet('{')).status, 400)
    const long = JSON.stringify({ name: 'x'.repeat(70_000) })
    equal((await greet(long)).status, 413)
    const streamed = { ...json(''), body: new Blob([long]).stream(), duplex: 'half' } as const // without its length
    equal((await fetch(`${app.url}/greetings`, streamed)).status, 413)
  })

  test('body: JSON in all its forms is read, what is none is 4xx, and nothing of it is a failure', async () => {
    const options = createOptions()
    await using app = await start(options)
    const latin = Buffer.from('{"name":"\xe9"}', 'latin1')
    for (const [body, type, ...statuses] of [
      ['\ufeff{"name":"Ada"}', 'application/json', 201],
      ['{"name":"Ada"}', 'application/json; charset=utf-8', 201],
      ['{"name":"Ada"}', 'Application/JSON;charset="UTF-8"', 201],
      ['{"name":"Ada"}', 'application/problem+json', 201],
      ['{"name":"\\ud800"}', 'application/json', 201],
      [latin, 'application/json', 201, 400],
      ['', 'application/json', 400],
      ['{"name":"Ada"}', 'text/plain', 415],
      ['{"name":"Ada"}', '', 415],
      ['{"name":"Ada"}', 'application/jsonish', 415],
      ['name=Ada', 'application/x-www-form-urlencoded', 415],
      ['{"name":"Ada"} ', 'application/json', 415],
    ] as const) {
      const coding = String(body).endsWith(' ') ? 'tea' : 'identity'
      const headers = { 'content-type': type, 'content-encoding': coding, origin: 'https://evil.example' }
      const sent = Buffer.from(body)
      const response = await fetch(`${app.url}/greetings`, { method: 'POST', headers, body: sent })
      equal(statuses.includes(response.status as never), true, `${body} as ${type}: ${response.status}`)
      if (body.includes('Ada') && response.ok) deepEqual(await response.json(), { hello: 'Ada' })
    }
    await assertNoFailure(options)
  })
}

export function testSession(start: Start): void {
  const login = (url: string, { headers = {}, body = 'name=Ada' }) =>
    fetch(`${url}/login`, {
      redirect: 'manual',
      method: 'POST',
      headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
    })
  const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(';'))

  test('session: who logs in is known; whoever forges a cookie is not', async () => {
    await using app = await start(createOptions())
    const me = (cookie: string) => fetch(`${app.url}/me`, { headers: { cookie } })
    const response = await login(app.url, {})
    deepEqual([response.status, response.headers.get('location')], [303, '/me'])
    const pairs = cookiesOf(response).map(([pair = '']) => pair)
    const known = await me(pairs.join('; '))
    deepEqual([known.status, await known.json()], [200, { name: 'Ada' }])
    equal((await me('')).status, 401)
    for (const [index, pair] of pairs.entries()) {
      const [name] = pair.split('=')
      const last = pair.at(-2) === 'A' ? 'B' : 'A'
      const forged = ['=', '=admin', '=%ff', `=${btoa('{"name":"admin"}')}`, `=${'x'.repeat(3_000)}`]
      for (const other of [...forged.map((value) => name + value), pair.slice(0, -2) + last + pair.at(-1)])
        equal((await me(pairs.with(index, other).join('; '))).status, 401, other)
    }
  })

  test('session: scripts of pages and other sites cannot use the cookie, which is secure behind TLS', async () => {
    await using app = await start(createOptions({ TRUST_PROXY: 'loopback' }))
    const { host } = new URL(app.url)
    const tls = { 'x-forwarded-proto': 'https', origin: `https://${host}` }
    for (const [headers, isSecure] of [
      [{}, false],
      [tls, true],
    ] as const) {
      for (const [, ...attributes] of cookiesOf(await login(app.url, { headers }))) {
        const names = attributes.map((attribute) => attribute.trim().toLowerCase())
        deepEqual([names.includes('httponly'), names.includes('samesite=lax')], [true, true])
        equal(names.includes('secure'), isSecure)
      }
    }
    equal((await login(app.url, { headers: { origin: 'https://evil.example' } })).status, 403)
    equal((await login(app.url, { body: `name=${'x'.repeat(101)}` })).status, 400)
    equal((await login(app.url, { body: '\ufeffname=Ada' })).status, 303)
    for (const type of ['text/plain', 'application/json']) {
      const noForm = { headers: { 'content-type': type }, body: '{"name":"\\ud800"}' }
      match(`${(await login(app.url, noForm)).status}`, /^[34]/)
    }
  })
}

export function testEvents(start: Start): void {
  test('events: go on after the last one that a client knows, and end when the app stops', async () => {
    const options = createOptions()
    await using app = await start(options)
    const response = await fetch(`${app.url}/events`, { headers: { 'last-event-id': '6' } })
    equal(response.headers.get('content-type')?.split(';')[0], 'text/event-stream')
    match(response.headers.get('cache-control') ?? '', /no-store, no-transform/) // `compression` would hold them back
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.endsWith('\n\n')) options.lifecycle.drain()
    }
    match(text, /id: 7\n/)
  })

  test('events: HEAD gets its response, and that ends', async () => {
    const options = createOptions()
    await using app = await start(options)
    equal((await fetch(`${app.url}/events`, { method: 'HEAD' })).status, 200)
    deepEqual(await readResponses(options, 1), ['/events'])
  })
}

export function testChat(start: Start): void {
  test('chat: says what it hears, and 1001 when the app stops; then it accepts no more', async () => {
    const options = createOptions()
    await using app = await start(options)
    const url = `${app.url.replace('http', 'ws')}/chat`
    const socket = new WebSocket(url)
    await once(socket, 'open')
    socket.send('Hello')
    const [{ data }] = await once(socket, 'message')
    equal(data, 'Hello')
    socket.binaryType = 'arraybuffer'
    socket.send(Uint8Array.of(0xff, 0xfe, 0))
    const [{ data: bytes }] = await once(socket, 'message')
    deepEqual(new Uint8Array(bytes), Uint8Array.of(0xff, 0xfe, 0))
    const closed = once(socket, 'close')
    options.lifecycle.drain()
    const [{ code }] = await closed
    equal(code, 1001)
    const late = new WebSocket(url)
    equal((await Promise.race([once(late, 'open'), once(late, 'error')]))[0].type, 'error')
  })

  test('chat: is for programs and pages of this site; any other request is refused with a 4xx', async () => {
    await using app = await start(createOptions({ TRUST_PROXY: 'loopback' }))
    const { host } = new URL(app.url)
    for (const [status, lines] of [
      [101, HANDSHAKE],
      [101, `${HANDSHAKE}\r\nOrigin: ${app.url}`],
      [101, `${HANDSHAKE}\r\nX-Forwarded-Proto: https\r\nOrigin: https://${host}`],
      [403, `${HANDSHAKE}\r\nOrigin: https://${host}`],
      [403, `${HANDSHAKE}\r\nOrigin: http://evil.example`],
      [403, `${HANDSHAKE}\r\nOrigin: null`],
      ['4..', HANDSHAKE.replace('Key', 'Lock')],
      ['4..', HANDSHAKE.replace('13', '7')],
      ['4..', 'Accept: */*'],
    ] as const) {
      const { socket, text } = await say(app.url, `GET /chat HTTP/1.1\r\n${lines}`)
      match(text, RegExp(`^HTTP/1.1 ${status} `), lines)
      if (status === 403) match(text, /nosniff\r\n.*x-request-id: \w{32}\r\n.*"status":403/is)
      socket.destroy()
    }
  })

  test('chat: who is refused is disconnected, although it does not leave; who sends what is no WebSocket is no failure', async () => {
    const options = createOptions()
    await using app = await start(options)
    const { hostname: host, port } = new URL(app.url)
    for (const lines of [`${HANDSHAKE}\r\nOrigin: null`, `Host: a b\r\n${HANDSHAKE}`, HANDSHAKE]) {
      const open = connect({ host, port: Number(port), allowHalfOpen: true }).on('error', () => {})
      const { socket, text } = await say(app.url, `GET /chat HTTP/1.1\r\n${lines}`, open)
      if (text.startsWith('HTTP/1.1 101 ')) socket.end('no frame')
      for (socket.resume(); !socket.destroyed; await sleep(10)) socket.write('no frame', () => {})
    }
    await fetch(`${app.url}/greetings`)
    equal(
      (await options.readLines(1)).find(({ level }) => level === ERROR),
      undefined,
    )
  })

  test('chat: a client that sends and never reads is cut', async () => {
    await using app = await start(createOptions())
    const { socket } = await say(app.url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    socket.pause()
    const frame = Buffer.concat([Buffer.of(0x82, 0xfe, 0xea, 0x60, 0, 0, 0, 0), Buffer.alloc(60_000)]) // its mask is 0
    let sent = 0
    while (!socket.destroyed && sent++ < 1_000) await new Promise((written) => socket.write(frame, written))
    equal(socket.destroyed, true) // 60 MB would wait in memory
  })

  test('chat: a client that does not reply is cut when the app stops', async () => {
    const options = createOptions()
    await using app = await start(options)
    const { socket } = await say(app.url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    options.lifecycle.drain()
    // The default of SHUTDOWN_TIMEOUT_MS is 9 s; without a limit of its own, ws would wait for 30 s.
    await once(socket.resume(), 'close', { signal: AbortSignal.timeout(20_000) })
  })

  test('chat: other upgrades are ignored: the app responds as without them, and the connection can be used again', async () => {
    for (const [request, path, status] of [
      ['GET /chat HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c', '/chat', '4..'],
      [`GET /other HTTP/1.1\r\n${HANDSHAKE}`, '/other', 404],
      ['GET /other HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: tea/1, websocket', '/other', 404],
      [`${POST}\r\nUpgrade: h2c\r\nContent-Length: 18\r\n\r\n{"name":"Ada"}`, '/greetings', 201],
      [
        `${POST}\r\nUpgrade: tea\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{"name":"Ada"}\r\n0`,
        '/greetings',
        201,
      ],
    ] as const) {
      const options = createOptions()
      await using app = await start(options)
      const { socket, text } = await say(app.url, request)
      match(text, RegExp(`^HTTP/1.1 ${status} `), request)
      match(text, /\r\nx-request-id: \w{32}\r\n/i)
      match(text, /\r\nx-content-type-options: nosniff\r\n/i)
      const { text: next } = await say(app.url, 'GET /livez HTTP/1.1\r\nConnection: close', socket)
      match(next, /^HTTP\/1.1 200 /)
      deepEqual(await readResponses(options, 1), [path])
    }
  })
}

/** Not for Bun, which pings by itself, and whose timers cannot be mocked. */
export function testPings(start: Start): void {
  test('chat: a client is pinged every 15 s, half of the timeout of NGINX; one that does not reply is cut', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    await using app = await start(createOptions())
    const { socket } = await say(app.url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    for (const reply of [Buffer.of(0x8a, 0x80, 0, 0, 0, 0), Buffer.alloc(0)]) {
      t.mock.timers.tick(15_000)
      equal((await once(socket, 'data'))[0][0], 0x89) // RFC 6455, 5.2
      socket.write(reply)
      await fetch(`${app.url}/livez`) // the server has read it
    }
    t.mock.timers.tick(15_000)
    await once(socket, 'close')
  })
}

const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDAwMDAwMDAwMDAwMDAwMA=='
const POST = 'POST /greetings HTTP/1.1\r\nConnection: Upgrade\r\nContent-Type: application/json'

/** Sends a request, whose end it adds. @returns the connection, and the first bytes that come */
async function say(url: string, request: string, open?: Socket) {
  const { hostname, port, host } = new URL(url)
  const socket = open ?? connect(Number(port), hostname).on('error', () => {})
  const hosted = request.includes('\r\nHost: ') ? request : request.replace('\r\n', `\r\nHost: ${host}\r\n`)
  socket.write(`${hosted}\r\n\r\n`)
  return { socket, text: String((await once(socket, 'data'))[0]) }
}

export function testUpload(start: Start): void {
  const formOf = (size: number) => {
    const form = new FormData()
    form.set('file', new File(['x'.repeat(size)], 'tea.txt'))
    return form
  }

  test('upload: takes a file of more than 64 KiB; one that is too large is 413, none is 400', async () => {
    await using app = await start(createOptions())
    const send = (body: FormData) => fetch(`${app.url}/uploads`, { method: 'POST', body })
    const taken = await send(formOf(100_000))
    deepEqual([taken.status, await taken.json()], [201, { name: 'tea.txt', size: 100_000 }])
    equal((await send(formOf(3_000_000))).status, 413)
    equal((await send(new FormData())).status, 400)
    match(`${(await fetch(`${app.url}/uploads`, json('{}'))).status}`, /^4/) // no form
  })

  test('upload: names are UTF-8 without a path; a field without a file and a form that is cut are 400', async () => {
    const options = createOptions()
    await using app = await start(options)
    const send = async (body: string) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=b' }
      const response = await fetch(`${app.url}/uploads`, { method: 'POST', headers, body })
      return [response.status, ((await response.json()) as { name?: string }).name]
    }
    const form = (file: string) =>
      `--b\r\nContent-Disposition: form-data; name="file"; filename="${file}\r\n\r\n`
    deepEqual(await send(`${form('Grüße.txt"')}x\r\n--b--\r\n`), [201, 'Grüße.txt'])
    deepEqual(await send(`${form('../../a/b.txt"')}x\r\n--b--\r\n`), [201, 'b.txt'])
    const none = ['.."', 'a/."', 'a\u0007b"'].map((name) => `${form(name)}x\r\n--b--\r\n`)
    const cut = [form('a.txt"'), `${form('a.txt"')}x`, `${form('a.txt"')}x\r\n--b`, form('a.txt').trim(), '']
    for (const body of [
      `${form('"')}\r\n--b--\r\n`,
      ...cut,
      ...none,
      `${form('a.txt"')}x\r\n--other--\r\n`,
      '--b--\r\n',
    ])
      deepEqual(await send(body), [400, undefined], body)
    await assertNoFailure(options)
  })

  test('upload: of many at a time most are refused, so that memory has a bound, and that is no failure', async () => {
    const options = createOptions()
    await using app = await start(options)
    const encoded = new Request(app.url, { method: 'POST', body: formOf(100_000) })
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '', 'content-length': 101_000 }
    const half = (await encoded.bytes()).subarray(0, 50_000)
    let refused = 0
    const uploads = Array.from({ length: 40 }, () => {
      const upload = sendRequest(`${app.url}/uploads`, { method: 'POST', headers, agent: false })
      upload.on('error', () => {}).write(half)
      return upload.on('response', (response) => {
        if (response.statusCode === 503 && response.headers['retry-after'] === '1') refused++
      })
    })
    const limit = AbortSignal.timeout(30_000)
    for (; refused < 24; limit.throwIfAborted()) await sleep(10)
    for (const upload of uploads) upload.destroy()
    const send = () => fetch(`${app.url}/uploads`, { method: 'POST', body: formOf(1) })
    for (; (await send()).status !== 201; limit.throwIfAborted()) await sleep(10)
    await assertNoFailure(options)
  })

  test('upload: a client that leaves is no failure', async () => {
    const options = createOptions()
    await using app = await start(options)
    const encoded = new Request(app.url, { method: 'POST', body: formOf(100_000) })
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '', 'content-length': 101_000 }
    const upload = sendRequest(`${app.url}/uploads`, { method: 'POST', headers }).on('error', () => {})
    upload.write((await encoded.bytes()).subarray(0, 50_000))
    await fetch(`${app.url}/greetings`) // the server has begun to read
    upload.destroy()
    await readResponses(options, 2)
    await fetch(`${app.url}/greetings`) // by now, a failure would have its line
    deepEqual((await readResponses(options, 3)).sort(), ['/greetings', '/greetings', '/uploads'])
    await assertNoFailure(options)
  })
}

/** @param storage that of multer */
export function testStorage(start: Start, storage: object): void {
  test('upload: a disk that is full is a 500, and only the log has its path', async (t) => {
    const full = Object.assign(new Error("ENOSPC: no space left, open '/srv/tea.txt'"), { syscall: 'open' })
    const fail = (_request: unknown, _file: unknown, done: (error: Error) => void) => done(full)
    t.mock.method(Object.getPrototypeOf(storage), '_handleFile', fail)
    const options = createOptions()
    await using app = await start(options)
    const body = new FormData()
    body.set('file', new File(['x'], 'tea.txt'))
    const response = await fetch(`${app.url}/uploads`, { method: 'POST', body })
    deepEqual([response.status, ((await response.json()) as Problem).detail], [500, undefined])
    equal((await options.readLines(2)).filter(({ level }) => level === ERROR).length, 1)
  })
}

/** @param app the directory of the app, whose folder `public` is served */
export function testStatic(app: string, start: Start): void {
  test('static: files of one folder, with a policy that lets HTML load its own files', async () => {
    using _ = publish(app, {
      'page.html': '<h1>Tea</h1>',
      '100% ü🍵+#?&;=.': 'any name',
      'more/index.html': 'index',
    })
    await using served = await start(createOptions())
    const ask = (path: string) => get(served.url, `/public/test/${path}`)
    const page = await ask('page.html')
    deepEqual([page.status, page.body], [200, '<h1>Tea</h1>'])
    match(String(page.headers['content-security-policy']), /default-src 'self'/)
    equal((await ask(encodeURIComponent('100% ü🍵+#?&;=.'))).body, 'any name')
    equal((await ask('more/')).body, 'index')
    const out = [
      '%2e%2e/%2e%2e/',
      '../../',
      '..%2f..%2f',
      '..%5c..%5c',
      '%252e%252e/',
      '.well-known/..%2f..%2f..%2f',
    ]
    for (const way of [
      'none.html',
      '',
      '%ff',
      '%00',
      'page.html%00',
      ...out.map((one) => `${one}package.json`),
    ]) {
      const { status, headers } = await ask(way)
      match(`${status} ${headers['content-security-policy']}`, /^4.. (?!default-src 'self')/, way)
    }
  })

  test('static: ranges and conditional requests, as RFC 9110 says', async () => {
    using _ = publish(app, { 'ten.txt': '0123456789' })
    await using served = await start(createOptions())
    const ask = (headers: OutgoingHttpHeaders, method?: string) =>
      get(served.url, '/public/test/ten.txt', headers, method)
    const {
      headers: { etag = '', 'last-modified': date = '' },
    } = await ask({})
    const old = 'Wed, 01 Jan 2020 00:00:00 GMT'
    for (const [range, expected, more = {}] of [
      ['bytes=2-4', '206 bytes 2-4/10 234'],
      ['bytes=7-', '206 bytes 7-9/10 789'],
      ['bytes=-3', '206 bytes 7-9/10 789'],
      ['bytes=8-100', '206 bytes 8-9/10 89'],
      ['bytes=10-', '416 bytes */10 '],
      ['bytes=-0', '416 bytes */10 '],
      ['lines=0-1', '200 undefined 0123456789'],
      ['bytes=2-4', '206 bytes 2-4/10 234', { 'if-range': date }],
      ['bytes=2-4', '200 undefined 0123456789', { 'if-range': '"another"' }],
      ['bytes=2-4', '200 undefined 0123456789', { 'if-range': etag.replace(/^(W\/)?/, 'W/') }],
      ['bytes=2-4', '200 undefined 0123456789', { 'if-range': old }],
    ] as const) {
      const { status, headers, body } = await ask({ range, ...more })
      equal(`${status} ${headers['content-range']} ${status === 416 ? '' : body}`, expected, range)
    }
    for (const [expected, conditions] of [
      [304, { 'if-none-match': etag }],
      [304, { 'if-none-match': `"a", ${etag.replace(/^(W\/)?/, 'W/')}` }],
      [304, { 'if-none-match': '*' }],
      [304, { 'if-modified-since': date }],
      [200, { 'if-none-match': '"a"', 'if-modified-since': date }],
      [200, { 'if-modified-since': old }],
    ] as const) {
      const { status, headers, body } = await ask(conditions)
      deepEqual(
        [status, body === '', headers['x-request-id'] === undefined],
        [expected, expected === 304, false],
      )
      deepEqual(
        [headers.etag, headers['content-security-policy']?.slice(0, 18)],
        [etag, "default-src 'self'"],
      )
    }
    equal((await ask({}, 'HEAD')).headers['content-length'], '10')
  })

  test('static: of the names that begin with a dot, only .well-known is there', async () => {
    using _ = publish(app, {
      '.env': 'KEY',
      '.git/config': 'KEY',
      '.git/index.html': 'KEY',
      '.well-known/a.txt': 'a',
    })
    await using served = await start(createOptions())
    for (const path of ['.env', '%2eenv', '.git/config', '.git/', '.git', '.well-known/..%2f.env'])
      match(`${(await get(served.url, `/public/${path}`)).status}`, /^4/, path)
    equal((await get(served.url, '/public/.well-known/a.txt')).body, 'a')
  })
}

/** @param app the directory of the app, whose folder `public` is served @param start an app that has the page, too */
export function testOpenFiles(app: string, start: Start): void {
  const paths = ['/public/test/large.bin', ASSETS[0] ?? '']
  const links = '/proc/self/fd'

  test('static: clients that leave leave no file open, and are no failure', {
    skip: !existsSync(links),
  }, async () => {
    using _ = publish(app, { 'large.bin': 'x'.repeat(3_000_000) })
    const options = createOptions()
    await using served = await start(options)
    for (let n = 0; n < 300; n++) {
      const { hostname, port, host } = new URL(served.url)
      const socket = connect(Number(port), hostname).on('error', () => {})
      const count = n % 3 === 1 ? 4 : 1 // of one that pipelines, three wait
      socket.write(`GET ${paths[n % 2]} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count))
      await (n % 3 === 0 ? once(socket, 'data') : sleep(n % 8))
      socket.resetAndDestroy()
    }
    const target = (fd: string) => {
      try {
        return readlinkSync(`${links}/${fd}`)
      } catch {
        return '' // closed by now
      }
    }
    const isOpen = (fd: string) => /large\.bin|\/assets\//.test(target(fd))
    const limit = AbortSignal.timeout(30_000)
    while (readdirSync(links).some(isOpen)) {
      limit.throwIfAborted()
      await sleep(10)
    }
    await get(served.url, '/greetings')
    await assertNoFailure(options)
  })
}

/** For Node, whose streams open files by `fs.open`. */
export function testFailingFiles(app: string, start: Start): void {
  test('static: a file that cannot be opened is a 500, and logged', async (t) => {
    using _ = publish(app, { 'large.bin': 'x' })
    const options = createOptions()
    await using served = await start(options)
    const full = Object.assign(new Error("EMFILE: too many open files, open '/srv/x'"), {
      code: 'EMFILE',
      syscall: 'open',
    })
    t.mock.method(fs, 'open', (...all: unknown[]) => setImmediate(all.at(-1) as (error: Error) => void, full))
    for (const path of ['/public/test/large.bin', ASSETS[0] ?? '']) {
      const { status, headers, body } = await get(served.url, path)
      deepEqual(
        [status, headers['content-type']?.split(';')[0], body.includes('/srv')],
        [500, PROBLEM, false],
      )
    }
    equal((await options.readLines(4)).filter(({ level }) => level === ERROR).length, 2)
  })
}

/** Writes files to `public/test`, or to `public` if they begin with a dot, until the end of the block. */
function publish(app: string, files: Record<string, string>): Disposable {
  const made = Object.entries(files).map(([name, text]) => {
    const path = join(app, 'public', name.startsWith('.') ? '' : 'test', name)
    const folder = mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return folder ?? path
  })
  return { [Symbol.dispose]: () => made.map((path) => rmSync(path, { recursive: true, force: true })) }
}

/** A request whose path is sent as it is: `fetch` would resolve dots. */
async function get(url: string, path: string, headers: OutgoingHttpHeaders = {}, method = 'GET') {
  const request = sendRequest(url, { path, method, headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

/** @param unusable upstreams that have no response, or one with no status */
export function testRelay(start: Start, unusable = ['reset', 'odd']): void {
  test('relay: what an upstream has compressed comes whole, and with no header that speaks for this app', async () => {
    await using app = await start(createOptions())
    const plain = (await fetch(`${app.url}/weather`)).headers // a 400 of this app
    const ask = (city: string, method = 'GET') =>
      fetch(`${app.url}/weather?city=${city}`, {
        method,
        headers: { 'x-request-id': 'r-1', cookie: 'a=1', authorization: 'Basic eDp5' },
      })
    // One connection: what a wrong length leaves over would become the next response.
    for (const city of ['gzip', 'br', 'zstd', 'identity', 'gzip']) {
      const response = await ask(city)
      deepEqual([response.status, await response.text()], [200, `${city} r-1 ${'x'.repeat(1_000)}`])
      const { headers } = response
      deepEqual([headers.get('content-type'), headers.get('cache-control')], ['text/tea', 'max-age=60'])
      for (const name of ['x-content-type-options', 'content-security-policy', ...FOREIGN])
        equal(headers.get(name), plain.get(name), name)
      equal(headers.get('x-request-id'), 'r-1')
    }
    const nothing = await ask('nothing')
    deepEqual([nothing.status, await nothing.text()], [204, ''])
    equal((await ask('gzip', 'HEAD')).status, 200)
    equal((await ask('unchanged')).status, 304)
    equal((await ask('missing')).status, 404)
    for (const city of unusable) equal((await ask(city)).status, 502, city)
    await rejects(ask('cut').then((response) => response.text()))
  })
}

export function testRelayAbort(start: Start): void {
  for (const [city, status] of Object.entries({ silent: undefined, endless: 200 }))
    test(`relay: a client that leaves ends the request of the upstream, which is ${city}, and is no failure`, async () => {
      const options = createOptions()
      await using app = await start(options)
      const asked = once(upstream, 'request')
      const request = sendRequest(`${app.url}/weather?city=${city}`)
        .on('error', () => {})
        .end()
      if (status) equal((await once(request, 'response'))[0].statusCode, status)
      const [{ socket }] = await asked
      const left = new Promise((resolve) => socket.once('close', resolve))
      request.destroy()
      await left
      await fetch(`${app.url}/greetings`) // by now, a failure would have its line
      await readResponses(options, 2)
      await assertNoFailure(options)
    })

  test('relay: a body that stands still ends, and the request of the upstream', async () => {
    await using app = await start(createOptions({ HANDLER_TIMEOUT_MS: '500', KEEP_ALIVE_TIMEOUT_MS: '1000' }))
    const asked = once(upstream, 'request')
    const response = fetch(`${app.url}/weather?city=endless`)
    const [{ socket }] = await asked
    const left = new Promise((resolve) => socket.once('close', resolve))
    await rejects(response.then((begun) => begun.text()))
    await left
  })
}

/** Not for Bun, whose timers cannot be mocked. */
export function testRelayDeadline(start: Start): void {
  test('relay: headers have 10 s, a body as long as it takes', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await using app = await start(createOptions())
    const ask = (city: string) => fetch(`${app.url}/weather?city=${city}`)
    const asked = once(upstream, 'request')
    const late = ask('silent')
    await asked
    t.mock.timers.tick(10_000)
    equal((await late).status, 504)
    const heard = once(upstream, 'request')
    const slow = await ask('endless')
    t.mock.timers.tick(60_000)
    const [, response] = await heard
    response.end('end')
    equal(await slow.text(), 'begin end')
  })
}

/** Of an upstream: they would speak for the origin of the app, or are about another connection. */
const FOREIGN = [
  'alt-svc',
  'clear-site-data',
  'cross-origin-resource-policy',
  'refresh',
  'set-cookie',
  'strict-transport-security',
  'upgrade',
]

export function testSecondPage(start: Start): void {
  test('second page: its policy has the nonce of its script', async () => {
    await using app = await start(createOptions())
    const response = await fetch(`${app.url}/about`)
    equal(response.headers.get('content-type')?.toLowerCase(), 'text/html; charset=utf-8')
    const [, nonce] = /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '') ?? []
    equal((await response.text()).includes(`nonce="${nonce}"`), true)
    equal(response.headers.get('cache-control'), 'private, no-store')
  })
}

export function testDatabase(start: Start): void {
  test('database: keeps what it gets, is a condition of readiness, and is closed after the last response', async () => {
    let place: string | null = null
    for (const expected of ['written', 'read again']) {
      const options = createOptions()
      await using app = await start(options)
      const add = (tea: object) => fetch(`${app.url}/teas`, json(JSON.stringify(tea)))
      if (expected === 'written') {
        const added = await add({ name: "Ada's", grams: 50 })
        equal(added.status, 201)
        place = added.headers.get('location')
        equal((await add({ name: 'Assam', grams: 0 })).status, 400)
        for (const grams of ['1e400', '-1e400', '9007199254740993', '-9007199254740993', '1e17', '0.5'])
          equal(
            (await fetch(`${app.url}/teas`, json(`{"name":"Assam","grams":${grams}}`))).status,
            400,
            grams,
          )
      }
      const tea = await (await fetch(app.url + place)).json()
      deepEqual(tea, { id: Number(place?.split('/')[2]), name: "Ada's", grams: 50 })
      equal((await fetch(`${app.url}/teas/1000`)).status, 404)
      equal((await fetch(`${app.url}/readyz`)).status, 200)
      await options.lifecycle.close()
      equal((await fetch(app.url + place)).status, 500) // it is closed
    }
  })

  test('database: while another process writes, reads and probes go on, and a write is 503; without its file, the app is not ready', async () => {
    const file = join(directory, 'held.db')
    SETTINGS.DATABASE_FILE = file
    const options = createOptions()
    await using app = await start(options)
    const add = () => fetch(`${app.url}/teas`, json('{"name":"Assam","grams":1}'))
    const place = (await add()).headers.get('location')
    const code = `const db = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})
      db.exec('begin exclusive')
      console.log('begun')
      setInterval(() => {}, 1_000)`
    const holder = spawn('node', ['--eval', code])
    await once(holder.stdout, 'data')
    const held = await Promise.all([add(), add(), add(), add()])
    deepEqual(
      held.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`),
      Array(4).fill('503 1'),
    )
    for (const path of ['/livez', '/readyz', place])
      equal((await fetch(app.url + path)).status, 200, `${path}`)
    equal(holder.exitCode, null) // it has held the file until here
    holder.kill()
    await once(holder, 'exit')
    equal((await add()).status, 201)
    rmSync(file)
    equal((await fetch(`${app.url}/readyz`)).status, 503)
    await options.lifecycle.close()
  })

  test('database: waits for a process that migrates, and keeps what a newer version has done', async () => {
    const file = join(directory, 'newer.db')
    const columns = 'id integer primary key, name text not null, grams integer not null, leaf text'
    const newer = spawn('node', [
      '--eval',
      `const db = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})
      db.exec('begin immediate; create table teas (${columns}) strict; pragma user_version = 3')
      console.log('begun')
      setTimeout(() => db.exec('commit'), 500)`,
    ])
    await once(newer.stdout, 'data')
    SETTINGS.DATABASE_FILE = file
    const options = createOptions()
    await using app = await start(options)
    equal((await fetch(`${app.url}/teas`, json('{"name":"Assam","grams":1}'))).status, 201)
    await options.lifecycle.close()
    equal(readFileSync(file).readUInt32BE(60), 3) // user_version: https://sqlite.org/fileformat.html
  })
}

async function assertNoFailure({ readLines }: ReturnType<typeof createOptions>): Promise<void> {
  equal(
    (await readLines(0)).find(({ level }) => level === ERROR),
    undefined,
  )
}

/** The paths of so many lines of the access log. Packages may write others. */
async function readResponses({ readLines }: ReturnType<typeof createOptions>, count: number) {
  for (let enough = count; ; enough++) {
    const completed = (await readLines(enough)).filter(({ msg }) => msg === 'request completed')
    if (completed.length >= count) return completed.map(({ path }) => path)
  }
}

/** A service that compresses as the request's `city` says. */
async function startUpstream() {
  const compress = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync }
  const server = createServer((request, response) => {
    const city = new URL(request.url ?? '', 'http://x').searchParams.get('city') ?? ''
    if (city === 'reset') return void request.socket.destroy()
    if (city === 'silent') return
    for (const name of [...FOREIGN, 'content-security-policy', 'x-request-id'])
      response.setHeader(name, 'of the upstream')
    response.setHeader('cache-control', 'max-age=60').setHeader('content-type', 'text/tea')
    if (city === 'nothing') return void response.writeHead(204).end()
    if (city === 'unchanged') return void response.writeHead(304).end()
    if (city === 'odd') return void response.writeHead(999).end()
    if (city === 'missing') return void response.writeHead(404).end('none')
    if (city === 'cut')
      return void response.setHeader('content-length', 99).write('begin', () => response.destroy())
    if (city === 'endless') return void response.write('begin ')
    const { cookie = '', authorization = '', 'x-request-id': id } = request.headers
    const body = Buffer.from(`${city} ${id}${cookie}${authorization} ${'x'.repeat(1_000)}`)
    const coded = city in compress ? compress[city as keyof typeof compress](body) : body
    response.setHeader('content-encoding', city).setHeader('content-length', coded.length).end(coded)
  }).unref()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
