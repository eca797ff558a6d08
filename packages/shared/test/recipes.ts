import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { ASSETS } from '#shared/page/server.js'
import type { AppOptions } from '../src/app-options.ts'
import { PROBLEM, type Problem } from '../src/problem.ts'
import { createOptions, ERROR, type Start, WARN } from '../src/testing/app.ts'

/** What the recipes of every framework promise. */

const directory = fs.mkdtempSync(join(tmpdir(), 'recipes-'))
after(() => fs.rmSync(directory, { recursive: true }))
const upstream = await startUpstream()

export const SETTINGS = {
  SESSION_SECRET: 'not a secret: it is only for tests',
  UPSTREAM_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`,
  DATABASE_FILE: join(directory, 'test.db'),
}

/** Its timers and functions cannot be mocked, and it pings by itself. */
const IS_BUN = 'bun' in process.versions

/** @param app the directory of the app @param start an app with the routes of all recipes, and the page */
export function testRecipes(app: string, start: Start): void {
  testBody(start)
  testSession(start)
  testEvents(start)
  testChat(start)
  testUpload(start)
  testStatic(app, start)
  testOpenFiles(app, start)
  testRelay(start)
  testRelayAbort(start)
  testSecondPage(start)
  testDatabase(start)
  if (IS_BUN) return
  testPings(start)
  testFailingFiles(app, start)
  testRelayDeadline(start)
}

interface App extends ReturnType<typeof createOptions> {
  url: string
  ask(path: string, init?: RequestInit): Promise<Response>
  t: TestContext
}

interface Asked {
  start: Start
  env?: Record<string, string>
  /** Lines of the log that are failures, at the end; default 0. */
  failures?: number
  /** Timers that only the test runs. */
  timers?: 'setTimeout' | 'setInterval'
}

function question(
  what: string,
  { start, env, failures = 0, timers }: Asked,
  check: (app: App) => Promise<void>,
): void {
  test(what, async (t) => {
    if (timers !== undefined) t.mock.timers.enable({ apis: [timers] })
    const options = createOptions(env)
    await using app = await start(options)
    await check({ ...options, url: app.url, ask: (path, init) => fetch(app.url + path, init), t })
    await fetch(`${app.url}/greetings`).catch(() => {}) // by now, a failure has its line
    const failed = (await options.readLines(0)).filter(({ level }) => level === ERROR)
    equal(failed.length, failures, JSON.stringify(failed))
  })
}

/** A POST, by default of JSON. */
function post(body: string | Buffer<ArrayBuffer> | FormData, headers?: Record<string, string>) {
  const json = body instanceof FormData ? {} : { 'content-type': 'application/json' }
  return { method: 'POST', body, headers: headers ?? json }
}

export function testBody(start: Start): void {
  question('body: a name is greeted, what is none is named', { start }, async ({ ask }) => {
    const greet = (body: string) => ask('/greetings', post(body))
    const greeting = await greet('{"name":"Ada"}')
    deepEqual([greeting.status, await greeting.json()], [201, { hello: 'Ada' }])
    const unfit = await greet('{"name":""}')
    const { errors } = (await unfit.json()) as Problem
    deepEqual([unfit.status, errors?.[0]?.field], [400, 'name'])
    equal(unfit.headers.get('content-type')?.split(';')[0], PROBLEM)
    equal((await greet('{')).status, 400)
    const long = JSON.stringify({ name: 'x'.repeat(70_000) })
    equal((await greet(long)).status, 413)
    const streamed = { ...post(''), body: new Blob([long]).stream(), duplex: 'half' } as const // without its length
    equal((await ask('/greetings', streamed)).status, 413)
  })

  question('body: JSON in all its forms is read, what is none is 4xx', { start }, async ({ ask }) => {
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
      const response = await ask('/greetings', post(Buffer.from(body), headers))
      equal(statuses.includes(response.status as never), true, `${body} as ${type}: ${response.status}`)
      if (body.includes('Ada') && response.ok) deepEqual(await response.json(), { hello: 'Ada' })
    }
  })
}

export function testSession(start: Start): void {
  const login = ({ url, ask }: App, headers = {}, body = 'name=Ada') => {
    const form = { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return ask('/login', { redirect: 'manual', ...post(body, form) })
  }
  const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(';'))

  question('session: who logs in is known; whoever forges a cookie is not', { start }, async (app) => {
    const me = (cookie: string) => app.ask('/me', { headers: { cookie } })
    const response = await login(app)
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

  const behindProxy = { start, env: { TRUST_PROXY: 'loopback' } }
  question('session: scripts and other sites cannot use the cookie', behindProxy, async (app) => {
    const tls = { 'x-forwarded-proto': 'https', origin: app.url.replace('http', 'https') }
    for (const headers of [{}, tls])
      for (const [, ...attributes] of cookiesOf(await login(app, headers))) {
        const names = attributes.map((attribute) => attribute.trim().toLowerCase())
        deepEqual([names.includes('httponly'), names.includes('samesite=lax')], [true, true])
        equal(names.includes('secure'), headers === tls)
      }
    equal((await login(app, { origin: 'https://evil.example' })).status, 403)
    equal((await login(app, {}, `name=${'x'.repeat(101)}`)).status, 400)
    equal((await login(app, {}, '\ufeffname=Ada')).status, 303)
    for (const type of ['text/plain', 'application/json'])
      match(`${(await login(app, { 'content-type': type }, '{"name":"\\ud800"}')).status}`, /^[34]/)
  })
}

export function testEvents(start: Start): void {
  question('events: go on, and end when the app stops', { start }, async ({ ask, lifecycle }) => {
    const response = await ask('/events', { headers: { 'last-event-id': '6' } })
    equal(response.headers.get('content-type')?.split(';')[0], 'text/event-stream')
    match(response.headers.get('cache-control') ?? '', /no-store, no-transform/) // `compression` would hold them back
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.endsWith('\n\n')) lifecycle.drain()
    }
    match(text, /id: 7\n/)
  })

  question('events: HEAD gets its response, and that ends', { start }, async ({ ask, readLines }) => {
    equal((await ask('/events', { method: 'HEAD' })).status, 200)
    deepEqual(await readResponses(readLines, 1), ['/events'])
  })
}

export function testChat(start: Start): void {
  question('chat: says what it hears, and 1001 when the app stops', { start }, async (app) => {
    const url = `${app.url.replace('http', 'ws')}/chat`
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    await once(socket, 'open')
    const echo = async (data: string | Uint8Array<ArrayBuffer>) => {
      socket.send(data)
      return (await once(socket, 'message'))[0].data
    }
    equal(await echo('Hello'), 'Hello')
    const bytes = Uint8Array.of(0xff, 0xfe, 0)
    deepEqual(new Uint8Array(await echo(bytes)), bytes)
    const closed = once(socket, 'close')
    app.lifecycle.drain()
    equal((await closed)[0].code, 1001)
    const late = new WebSocket(url)
    equal((await Promise.race([once(late, 'open'), once(late, 'error')]))[0].type, 'error')
  })

  const behindProxy = { start, env: { TRUST_PROXY: 'loopback' } }
  question('chat: is for programs and pages of this site', behindProxy, async ({ url }) => {
    const secure = url.replace('http', 'https')
    for (const [status, lines] of [
      [101, HANDSHAKE],
      [101, `${HANDSHAKE}\r\nOrigin: ${url}`],
      [101, `${HANDSHAKE}\r\nX-Forwarded-Proto: https\r\nOrigin: ${secure}`],
      [403, `${HANDSHAKE}\r\nOrigin: ${secure}`],
      [403, `${HANDSHAKE}\r\nOrigin: http://evil.example`],
      [403, `${HANDSHAKE}\r\nOrigin: null`],
      ['4..', HANDSHAKE.replace('Key', 'Lock')],
      ['4..', HANDSHAKE.replace('13', '7')],
      ['4..', 'Accept: */*'],
    ] as const) {
      const { socket, text } = await say(url, `GET /chat HTTP/1.1\r\n${lines}`)
      match(text, RegExp(`^HTTP/1.1 ${status} `), lines)
      if (status === 403) match(text, /nosniff\r\n.*x-request-id: \w{32}\r\n.*"status":403/is)
      socket.destroy()
    }
  })

  question('chat: who is refused, or sends no frame, is disconnected', { start }, async ({ url }) => {
    const { hostname: host, port } = new URL(url)
    for (const lines of [`${HANDSHAKE}\r\nOrigin: null`, `Host: a b\r\n${HANDSHAKE}`, HANDSHAKE]) {
      const open = connect({ host, port: Number(port), allowHalfOpen: true }).on('error', () => {})
      const { socket, text } = await say(url, `GET /chat HTTP/1.1\r\n${lines}`, open)
      if (text.startsWith('HTTP/1.1 101 ')) socket.end('no frame')
      for (socket.resume(); !socket.destroyed; await sleep(10)) socket.write('no frame', () => {})
    }
  })

  question('chat: a client that sends and never reads is cut', { start }, async ({ url }) => {
    const { socket } = await say(url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    socket.pause()
    const frame = Buffer.concat([Buffer.of(0x82, 0xfe, 0xea, 0x60, 0, 0, 0, 0), Buffer.alloc(60_000)]) // its mask is 0
    let sent = 0
    while (!socket.destroyed && sent++ < 1_000) await new Promise((written) => socket.write(frame, written))
    equal(socket.destroyed, true) // 60 MB would wait in memory
  })

  question('chat: who does not reply is cut when the app stops', { start }, async ({ url, lifecycle }) => {
    const { socket } = await say(url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    lifecycle.drain()
    // The default of SHUTDOWN_TIMEOUT_MS is 9 s; without a limit of its own, ws would wait for 30 s.
    await once(socket.resume(), 'close', { signal: AbortSignal.timeout(20_000) })
  })

  for (const [request, path, status] of [
    ['GET /chat HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c', '/chat', '4..'],
    [`GET /other HTTP/1.1\r\n${HANDSHAKE}`, '/other', 404],
    ['GET /other HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: tea/1, websocket', '/other', 404],
    [`${POST}\r\nUpgrade: h2c\r\nContent-Length: 18\r\n\r\n{"name":"Ada"}`, '/greetings', 201],
    [`${POST}\r\nUpgrade: tea\r\n${CHUNKED}\r\n\r\ne\r\n{"name":"Ada"}\r\n0`, '/greetings', 201],
  ] as const)
    question(`chat: other upgrades are ignored: ${path} ${status}`, { start }, async ({ url, readLines }) => {
      const { socket, text } = await say(url, request)
      match(text, RegExp(`^HTTP/1.1 ${status} `), request)
      match(text, /\r\nx-request-id: \w{32}\r\n/i)
      match(text, /\r\nx-content-type-options: nosniff\r\n/i)
      const { text: next } = await say(url, 'GET /livez HTTP/1.1\r\nConnection: close', socket)
      match(next, /^HTTP\/1.1 200 /)
      deepEqual(await readResponses(readLines, 1), [path])
    })
}

function testPings(start: Start): void {
  const asked = { start, timers: 'setInterval' } as const
  // Half of the timeout of NGINX.
  question('chat: who does not reply to a ping in 15 s is cut', asked, async ({ url, ask, t }) => {
    const { socket } = await say(url, `GET /chat HTTP/1.1\r\n${HANDSHAKE}`)
    for (const reply of [Buffer.of(0x8a, 0x80, 0, 0, 0, 0), Buffer.alloc(0)]) {
      t.mock.timers.tick(15_000)
      equal((await once(socket, 'data'))[0][0], 0x89) // RFC 6455, 5.2
      socket.write(reply)
      await ask('/livez') // the server has read it
    }
    t.mock.timers.tick(15_000)
    await once(socket, 'close')
  })
}

const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDAwMDAwMDAwMDAwMDAwMA=='
const CHUNKED = 'Transfer-Encoding: chunked'
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

  /** Sends the first half of a form. */
  const beginUpload = async (url: string) => {
    const encoded = new Request(url, { method: 'POST', body: formOf(100_000) })
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '', 'content-length': 101_000 }
    const upload = sendRequest(`${url}/uploads`, { method: 'POST', headers, agent: false })
    upload.on('error', () => {}).write((await encoded.bytes()).subarray(0, 50_000))
    return upload
  }

  question('upload: takes over 64 KiB; too much is 413, and none is 400', { start }, async ({ ask }) => {
    const taken = await ask('/uploads', post(formOf(100_000)))
    deepEqual([taken.status, await taken.json()], [201, { name: 'tea.txt', size: 100_000 }])
    equal((await ask('/uploads', post(formOf(3_000_000)))).status, 413)
    equal((await ask('/uploads', post(new FormData()))).status, 400)
    match(`${(await ask('/uploads', post('{}'))).status}`, /^4/) // no form
  })

  question('upload: names are UTF-8; a form that is cut is 400', { start }, async ({ ask }) => {
    const type = { 'content-type': 'multipart/form-data; boundary=b' }
    const send = async (body: string) => {
      const response = await ask('/uploads', post(body, type))
      return [response.status, ((await response.json()) as { name?: string }).name]
    }
    const form = (file: string) =>
      `--b\r\nContent-Disposition: form-data; name="file"; filename="${file}\r\n\r\n`
    const wholeOf = (file: string) => `${form(file)}x\r\n--b--\r\n`
    deepEqual(await send(wholeOf('Grüße.txt"')), [201, 'Grüße.txt'])
    deepEqual(await send(wholeOf('../../a/b.txt"')), [201, 'b.txt'])
    const whole = ['.."', 'a/."', 'a\u0007b"'].map(wholeOf)
    const one = form('a.txt"')
    const cut = [one, `${one}x`, `${one}x\r\n--b`, `${one}x\r\n--other--\r\n`, one.trim(), '']
    for (const body of [...whole, ...cut, `${form('"')}\r\n--b--\r\n`, '--b--\r\n'])
      deepEqual(await send(body), [400, undefined], body)
  })

  question('upload: of many at a time most are refused', { start }, async ({ url, ask }) => {
    let refused = 0
    const uploads = await Promise.all([...Array(40)].map(() => beginUpload(url)))
    for (const upload of uploads)
      upload.on('response', ({ statusCode, headers }) => {
        if (statusCode === 503 && headers['retry-after'] === '1') refused++
      })
    const limit = AbortSignal.timeout(30_000)
    for (; refused < 24; limit.throwIfAborted()) await sleep(10)
    for (const upload of uploads) upload.destroy()
    const send = () => ask('/uploads', post(formOf(1)))
    for (; (await send()).status !== 201; limit.throwIfAborted()) await sleep(10)
  })

  question('upload: a client that leaves is no failure', { start }, async ({ url, ask, readLines }) => {
    const upload = await beginUpload(url)
    await ask('/greetings') // the server has begun to read
    upload.destroy()
    deepEqual((await readResponses(readLines, 2)).sort(), ['/greetings', '/uploads'])
  })
}

/** @param storage that of multer */
export function testStorage(start: Start, storage: object): void {
  question('upload: only the log has the path of a full disk', { start, failures: 1 }, async (app) => {
    const full = Object.assign(new Error("ENOSPC: no space left, open '/srv/tea.txt'"), { syscall: 'open' })
    const fail = (_request: unknown, _file: unknown, done: (error: Error) => void) => done(full)
    app.t.mock.method(Object.getPrototypeOf(storage), '_handleFile', fail)
    const body = new FormData()
    body.set('file', new File(['x'], 'tea.txt'))
    const response = await app.ask('/uploads', post(body))
    deepEqual([response.status, ((await response.json()) as Problem).detail], [500, undefined])
  })
}

/** @param app the directory of the app, whose folder `public` is served */
export function testStatic(app: string, start: Start): void {
  question('static: files of one folder, with a policy of their own', { start }, async ({ url, t }) => {
    const any = '100% ü🍵+#?&;=.'
    publish(t, app, { 'page.html': '<h1>Tea</h1>', [any]: 'any name', 'more/index.html': 'index' })
    const ask = (path: string) => get(url, `/public/test/${path}`)
    const page = await ask('page.html')
    deepEqual([page.status, page.body], [200, '<h1>Tea</h1>'])
    match(String(page.headers['content-security-policy']), /default-src 'self'/)
    equal((await ask(encodeURIComponent(any))).body, 'any name')
    equal((await ask('more/')).body, 'index')
    const up = [
      '%2e%2e/%2e%2e/',
      '../../',
      '..%2f..%2f',
      '..%5c..%5c',
      '%252e%252e/',
      '.well-known/..%2f..%2f..%2f',
    ]
    const outside = up.map((way) => `${way}package.json`)
    for (const path of ['none.html', '', '%ff', '%00', 'page.html%00', ...outside]) {
      const { status, headers } = await ask(path)
      match(`${status} ${headers['content-security-policy']}`, /^4.. (?!default-src 'self')/, path)
    }
  })

  question('static: ranges and conditional requests, as RFC 9110 says', { start }, async ({ url, t }) => {
    publish(t, app, { 'ten.txt': '0123456789' })
    const ask = (headers: object, method?: string) => get(url, '/public/test/ten.txt', headers, method)
    const { etag = '', 'last-modified': date = '' } = (await ask({})).headers
    const weak = etag.replace(/^(W\/)?/, 'W/')
    const old = 'Wed, 01 Jan 2020 00:00:00 GMT'
    for (const [range, expected, condition] of [
      ['bytes=2-4', '206 bytes 2-4/10 234'],
      ['bytes=7-', '206 bytes 7-9/10 789'],
      ['bytes=-3', '206 bytes 7-9/10 789'],
      ['bytes=8-100', '206 bytes 8-9/10 89'],
      ['bytes=10-', '416 bytes */10 '],
      ['bytes=-0', '416 bytes */10 '],
      ['lines=0-1', '200 undefined 0123456789'],
      ['bytes=2-4', '206 bytes 2-4/10 234', date],
      ['bytes=2-4', '200 undefined 0123456789', '"another"'],
      ['bytes=2-4', '200 undefined 0123456789', weak],
      ['bytes=2-4', '200 undefined 0123456789', old],
    ] as const) {
      const { status, headers, body } = await ask({ range, ...(condition && { 'if-range': condition }) })
      equal(`${status} ${headers['content-range']} ${status === 416 ? '' : body}`, expected, range)
    }
    for (const [expected, conditions] of [
      [304, { 'if-none-match': etag }],
      [304, { 'if-none-match': `"a", ${weak}` }],
      [304, { 'if-none-match': '*' }],
      [304, { 'if-modified-since': date }],
      [200, { 'if-none-match': '"a"', 'if-modified-since': date }],
      [200, { 'if-modified-since': old }],
    ] as const) {
      const { status, headers, body } = await ask(conditions)
      deepEqual([status, body === '', headers.etag], [expected, expected === 304, etag])
      equal(typeof headers['x-request-id'], 'string')
      match(`${headers['content-security-policy']}`, /^default-src 'self'/)
    }
    equal((await ask({}, 'HEAD')).headers['content-length'], '10')
  })

  question('static: of names with a dot first, only .well-known is there', { start }, async ({ url, t }) => {
    const hidden = ['.env', '.git/config', '.git/index.html']
    for (const name of hidden) publish(t, app, { [name]: 'KEY' })
    publish(t, app, { '.well-known/a.txt': 'a' })
    for (const path of [...hidden, '%2eenv', '.git/', '.git', '.well-known/..%2f.env'])
      match(`${(await get(url, `/public/${path}`)).status}`, /^4/, path)
    equal((await get(url, '/public/.well-known/a.txt')).body, 'a')
  })
}

function testOpenFiles(app: string, start: Start): void {
  const paths = ['/public/test/large.bin', ASSETS[0] ?? '']
  const links = '/proc/self/fd'
  if (!fs.existsSync(links)) return

  question('static: clients that leave leave no file open', { start }, async ({ url, t }) => {
    publish(t, app, { 'large.bin': 'x'.repeat(3_000_000) })
    const { hostname, port, host } = new URL(url)
    for (let n = 0; n < 300; n++) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      const count = n % 3 === 1 ? 4 : 1 // of one that pipelines, three wait
      socket.write(`GET ${paths[n % 2]} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count))
      await (n % 3 === 0 ? once(socket, 'data') : sleep(n % 8))
      socket.resetAndDestroy()
    }
    const isOpen = (fd: string) => {
      try {
        return /large\.bin|\/assets\//.test(fs.readlinkSync(`${links}/${fd}`))
      } catch {
        return false // closed by now
      }
    }
    const limit = AbortSignal.timeout(30_000)
    for (; fs.readdirSync(links).some(isOpen); limit.throwIfAborted()) await sleep(10)
  })
}

/** For Node, whose streams open files by `fs.open`. */
function testFailingFiles(app: string, start: Start): void {
  question('static: a file that cannot be opened is a 500', { start, failures: 2 }, async ({ url, t }) => {
    publish(t, app, { 'large.bin': 'x' })
    const known = { code: 'EMFILE', syscall: 'open' }
    const full = Object.assign(new Error("EMFILE: too many open files, open '/srv/x'"), known)
    t.mock.method(fs, 'open', (...all: unknown[]) => setImmediate(all.at(-1) as (error: Error) => void, full))
    for (const path of ['/public/test/large.bin', ASSETS[0] ?? '']) {
      const { status, headers, body } = await get(url, path)
      deepEqual([status, headers['content-type']?.split(';')[0]], [500, PROBLEM])
      doesNotMatch(body, /\/srv/)
    }
  })

  question('static: a file that becomes shorter while it is sent is cut', { start }, async ({ url, t }) => {
    publish(t, app, { 'large.bin': 'x'.repeat(12_000_000) }) // more than waits in sockets
    const { socket } = await say(url, 'GET /public/test/large.bin HTTP/1.1\r\nAccept: */*')
    fs.truncateSync(join(app, 'public/test/large.bin'))
    let rest = ''
    socket.on('data', (part) => (rest += part)).write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((closed) => socket.once('close', closed))
    equal(rest.includes('HTTP/1.1 200'), false) // who waits for the rest of the file would take it for that
  })
}

/** Writes files to `public/test`, or to `public` if they begin with a dot, until the end of the test. */
function publish(t: TestContext, app: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(app, 'public', name.startsWith('.') ? '' : 'test', name)
    const made = fs.mkdirSync(dirname(path), { recursive: true }) ?? path
    t.after(() => fs.rmSync(made, { recursive: true, force: true }))
    fs.writeFileSync(path, text)
  }
}

/** A request whose path is sent as it is: `fetch` would resolve dots. */
async function get(url: string, path: string, headers: object = {}, method = 'GET') {
  const request = sendRequest(url, { path, method, headers: { ...headers } }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

/** @param unusable upstreams that have no response, or one with no status @param failures the lines of those, and of one that is cut */
export function testRelay(
  start: Start,
  unusable = ['reset', 'odd'],
  failures = unusable.length + (IS_BUN ? 0 : 1),
): void {
  const what = 'relay: what an upstream has compressed comes whole, with no header that speaks for this app'
  question(what, { start, failures }, async (app) => {
    const plain = (await app.ask('/weather')).headers // a 400 of this app
    const ask = (city: string, method = 'GET') => {
      const headers = { 'x-request-id': 'r-1', cookie: 'a=1', authorization: 'Basic eDp5' }
      return app.ask(`/weather?city=${city}`, { method, headers })
    }
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

/** An upstream that is asked for something next, and the end of its connection. */
async function nextAsked() {
  const [{ socket }, response] = await once(upstream, 'request')
  return { response, left: new Promise((resolve) => socket.once('close', resolve)) }
}

function testRelayAbort(start: Start): void {
  for (const [city, status] of Object.entries({ silent: undefined, endless: 200 }))
    question(`relay: who leaves ends the request of the ${city} upstream`, { start }, async (app) => {
      const asked = nextAsked()
      const request = sendRequest(`${app.url}/weather?city=${city}`)
      request.on('error', () => {}).end()
      if (status) equal((await once(request, 'response'))[0].statusCode, status)
      const { left } = await asked
      request.destroy()
      await left
      await readResponses(app.readLines, 1)
    })

  const env = { HANDLER_TIMEOUT_MS: '500', KEEP_ALIVE_TIMEOUT_MS: '1000' }
  const standing = 'relay: a body that stands still ends, and the request of the upstream'
  question(standing, { start, env }, async ({ ask }) => {
    const asked = nextAsked()
    const response = ask('/weather?city=endless')
    const { left } = await asked
    await rejects(response.then((begun) => begun.text()))
    await left
  })
}

function testRelayDeadline(start: Start): void {
  const asked = { start, timers: 'setTimeout', failures: 1 } as const
  question('relay: headers have 10 s, a body as long as it takes', asked, async ({ ask, t }) => {
    const silent = nextAsked()
    const late = ask('/weather?city=silent')
    await silent
    t.mock.timers.tick(10_000)
    equal((await late).status, 504)
    const endless = nextAsked()
    const slow = await ask('/weather?city=endless')
    t.mock.timers.tick(60_000)
    ;(await endless).response.end('end')
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
  question('second page: its policy has the nonce of its script', { start }, async ({ ask }) => {
    const response = await ask('/about')
    equal(response.headers.get('content-type')?.toLowerCase(), 'text/html; charset=utf-8')
    const [, nonce] = /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '') ?? []
    equal((await response.text()).includes(`nonce="${nonce}"`), true)
    equal(response.headers.get('cache-control'), 'private, no-store')
  })
}

/** Another process, which has a file of SQLite open as `db`. */
async function openElsewhere(file: string, code: string) {
  const open = `const db = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})`
  const program = spawn('node', ['--eval', `${open}\n${code}\nconsole.log('begun')`])
  await once(program.stdout, 'data')
  return program
}

function testDatabase(start: Start): void {
  const startOn = (file: string) => (options: AppOptions) => {
    SETTINGS.DATABASE_FILE = file
    return start(options)
  }
  const addTo = ({ ask }: App, tea = '{"name":"Assam","grams":1}') => ask('/teas', post(tea))

  for (const launch of ['first', 'second'])
    question(`database: keeps what it gets (${launch} start)`, { start, failures: 1 }, async (app) => {
      if (launch === 'first') {
        const added = await addTo(app, '{"name":"Ada\'s","grams":50}')
        deepEqual([added.status, added.headers.get('location')], [201, '/teas/1'])
        for (const grams of ['0', '1e400', '-1e400', '9007199254740993', '-9007199254740993', '1e17', '0.5'])
          equal((await addTo(app, `{"name":"Assam","grams":${grams}}`)).status, 400, grams)
      }
      deepEqual(await (await app.ask('/teas/1')).json(), { id: 1, name: "Ada's", grams: 50 })
      equal((await app.ask('/teas/1000')).status, 404)
      equal((await app.ask('/readyz')).status, 200)
      await app.lifecycle.close()
      equal((await app.ask('/teas/1')).status, 500) // it is closed
    })

  const held = join(directory, 'held.db')
  question('database: while another process writes, reads go on', { start: startOn(held) }, async (app) => {
    const place = (await addTo(app)).headers.get('location')
    const holder = await openElsewhere(held, "db.exec('begin exclusive'); setInterval(() => {}, 1_000)")
    const writes = [1, 2, 3, 4].map(() => addTo(app))
    match((await Promise.race([...writes, app.ask('/livez')])).url, /\/livez$/) // they do not stop it
    for (const { status, headers } of await Promise.all(writes))
      deepEqual([status, headers.get('retry-after')], [503, '1'])
    for (const path of ['/livez', '/readyz', `${place}`]) equal((await app.ask(path)).status, 200, path)
    equal(holder.exitCode, null) // it has held the file until here
    holder.kill()
    await once(holder, 'exit')
    equal((await addTo(app)).status, 201)
    const told = (await app.readLines(0)).filter(({ level, err }) => level === WARN && err)
    const messages = told.map(({ err }) => Object(err).message)
    deepEqual(messages, Array(4).fill('database is locked'))
    fs.rmSync(held)
    // Without its file, it is alive but not ready, and does not say why.
    const [alive, ready] = [await app.ask('/livez'), await app.ask('/readyz')]
    deepEqual([alive.status, await alive.json()], [200, { status: 'pass' }])
    deepEqual([ready.status, await ready.json()], [503, { status: 'fail' }])
    await app.lifecycle.close()
  })

  const newer = join(directory, 'newer.db')
  const startNewer: Start = async (options) => {
    const columns = 'id integer primary key, name text not null, grams integer not null, leaf text'
    await openElsewhere(
      newer,
      `db.exec('begin immediate; create table teas (${columns}) strict; pragma user_version = 3')
      setTimeout(() => db.exec('commit'), 500)`,
    )
    return startOn(newer)(options)
  }
  question('database: waits for who migrates, keeps what is newer', { start: startNewer }, async (app) => {
    equal((await addTo(app)).status, 201)
    await app.lifecycle.close()
    equal(fs.readFileSync(newer).readUInt32BE(60), 3) // user_version: https://sqlite.org/fileformat.html
  })
}

/** The paths of so many lines of the access log. Packages may write others. */
async function readResponses(readLines: App['readLines'], count: number) {
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
