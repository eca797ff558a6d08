import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findNginx } from '@startgrid/nginx/find.ts'
import { ASSETS, ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { fail, type Running, start } from './running.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8', // RFC 9239
}

const found = await findNginx({ download: false })
const skip =
  found.kind === 'none' ? found.describe() : found.njs === undefined && `${found.describe()} has no njs`
describe(`on ${found.describe()}`, { skip }, () => {
  test('hello: one line with the address, responses, a log line each but for probes, exit 0', async () => {
    const app = await start('hello')
    const { started, address, child } = app
    deepEqual(
      [started.level, started.app, started.pid, started.msg],
      [30, 'njs/hello', child.pid, 'listening'],
    )
    ok(started.engine === 'qjs' || started.engine === 'njs')
    equal(await (await fetch(address)).text(), 'Hello World!')
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    equal(
      await (
        await fetch(`${address}/hello/a%2Fb?token=secret`, {
          headers: { 'x-request-id': 'r-1', traceparent },
        })
      ).text(),
      'Hello, a/b!',
    )
    equal((await fetch(`${address}/readyz`)).status, 200)
    equal((await fetch(`${address}/nothing`)).status, 404)
    equal(await stop(app), 0)
    deepEqual(
      app.lines.map(({ path, route, status }) => [path, route, status]),
      [
        ['/', '/', 200],
        ['/hello/a%2Fb', '/hello/:name', 200],
        ['/nothing', '', 404],
      ],
    )
    const { time, ms, ...rest } = app.lines[1] ?? {}
    ok(typeof time === 'number' && typeof ms === 'number')
    deepEqual(rest, {
      level: 30,
      app: 'njs/hello',
      requestId: 'r-1',
      method: 'GET',
      path: '/hello/a%2Fb',
      route: '/hello/:name',
      status: 200,
      client: '127.0.0.1',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      msg: 'request completed',
    })
  })

  test('ssr: the same bytes as on Node, for every size', async () => {
    const app = await start('ssr', { LOG_LEVEL: 'warn' })
    for (const items of [0, 4, 50, 1000]) {
      const response = await fetch(`${app.address}/?items=${items}`, { headers: { 'x-request-id': 'r-1' } })
      const nonce = /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '')?.[1] ?? ''
      equal(await response.text(), renderPage('shop', { items, requestId: 'r-1', nonce }))
    }
    for (const url of ASSETS) {
      const { size: bytes } = statSync(new URL(basename(url), ASSETS_DIR))
      const response = await fetch(app.address + url, { headers: { 'accept-encoding': 'br' } })
      equal(response.headers.get('content-type'), TYPES[extname(url)])
      equal(response.headers.get('content-encoding'), 'br')
      equal((await response.arrayBuffer()).byteLength, bytes)
    }
    equal(await stop(app), 0)
    deepEqual(app.lines, [], 'nothing is logged at warn')
  })

  test('hello: a name whose bytes are not UTF-8 is refused (old engine) or replaced (QuickJS)', async () => {
    const app = await start('hello', { LOG_LEVEL: 'warn' })
    const { status, body } = await request({ port: new URL(app.address).port, path: '/hello/\xff' })
    if (app.started.engine === 'njs') equal(status, 400)
    else deepEqual([status, body], [200, 'Hello, \ufffd!'])
    equal(await stop(app), 0)
    deepEqual(app.lines, [])
  })

  test('hello: a reader of the log that pauses delays responses, and loses neither responses nor lines', async () => {
    const app = await start('hello')
    const { stdout } = app.child
    stdout?.pause()
    // 1.6 MB of log: more than all pipes on the way hold.
    const path = `/${'a'.repeat(4_000)}`
    const responses = Array.from({ length: 400 }, () => request({ port: new URL(app.address).port, path }))
    await sleep(1_000)
    stdout?.resume()
    const tooLate = sleep(120_000, [], { ref: false })
    const statuses = (await Promise.race([Promise.all(responses), tooLate])).map(({ status }) => status)
    const code = await stop(app)
    deepEqual([statuses.length, new Set(statuses)], [400, new Set([404])])
    deepEqual([code, app.lines.length], [0, 400])
  })

  test('status: on a unix socket, without leaving a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'startgrid-njs-'))
    const socketPath = join(directory, 'app.sock')
    const app = await start('status', { SOCKET: socketPath })
    equal(app.address, `unix:${socketPath}`)
    const response = await request({ socketPath, path: '/_/status' })
    deepEqual([response.status, response.body], [200, 'OK'])
    equal(await stop(app), 0)
    deepEqual(await readdir(directory), [])
    await rm(directory, { recursive: true })
  })

  test('the client behind a trusted proxy is logged', async () => {
    const app = await start('hello', { TRUST_PROXY: 'loopback, 10.0.0.0/8' })
    await fetch(app.address, { headers: { 'x-forwarded-for': '203.0.113.7, 198.51.100.1, 10.1.2.3' } })
    await stop(app)
    equal(app.lines[0]?.client, '198.51.100.1')
  })

  test('while draining, /readyz fails and every response ends its connection', async () => {
    const app = await start('hello', { SHUTDOWN_DELAY_MS: '60000' })
    app.child.kill('SIGTERM')
    const { port } = new URL(app.address)
    while ((await request({ port, path: '/readyz' })).status !== 503) await sleep(20)
    const response = await request({ port, path: '/', agent: new Agent({ keepAlive: true }) })
    deepEqual([response.status, response.connection], [200, 'close'])
    equal((await request({ port, path: '/livez' })).status, 200)
    app.child.kill('SIGTERM')
    equal((await app.ended).code, 1, 'a second signal ends it at once')
  })

  test('a connection that has not sent a request does not keep it from ending', async () => {
    // The second connection must be there before NGINX stops listening, and a slow machine needs longer for it.
    for (let delayMs = 1_000; ; delayMs *= 5) {
      // Without a limit of its own, NGINX waits for 60 s.
      const app = await start('hello', {
        SHUTDOWN_DELAY_MS: String(delayMs),
        SHUTDOWN_TIMEOUT_MS: '30000',
      })
      const { port } = new URL(app.address)
      const silent = [await open(port)]
      app.child.kill('SIGTERM')
      const late = await openWhileDraining(port).then(
        (socket) => void silent.push(socket),
        (error: unknown) => error,
      )
      const { code, errors } = await app.ended
      equal(code, 0, errors)
      for (const socket of silent) socket.destroy()
      if (late === undefined) return
      if (delayMs > 60_000) throw late
    }
  })

  test('a drain loses no request', async () => {
    // Without so long a delay, a slow machine would send a request after idle connections are closed.
    const app = await start('hello', { SHUTDOWN_DELAY_MS: '3000', LOG_LEVEL: 'warn' })
    const { port } = new URL(app.address)
    const first = Array.from({ length: 8 }, () => Promise.withResolvers<void>())
    const clients = Promise.all(first.map(({ resolve }) => askUntilClosed(port, resolve)))
    // NGINX closes connections that it has not accepted together with its socket.
    await Promise.race([clients, Promise.all(first.map(({ promise }) => promise))])
    equal(await stop(app), 0)
    for (const responses of await clients) ok(responses > 1)
  })
})

describe('what cannot start says why in one sentence', () => {
  const choice = { STARTGRID_NGINX: 'path' }

  test('a bad setting, role or NGINX', async () => {
    const cases = [
      [{ PORT: 'x' }, 'hello', /^PORT is "x", but must be .*\.\n$/],
      [{}, 'nothing', /^There is no app 'nothing' here, only hello, ssr, status\.\n$/],
      [{}, undefined, /^Say which app to start: hello, ssr, status\.\n$/],
      [{ STARTGRID_NGINX: '/no/nginx' }, 'hello', /^[^\n]+\/no\/nginx is not a program[^\n]+\n$/],
    ] as const
    for (const [env, role, expected] of cases) {
      const { code, errors } = await fail(role, { ...choice, ...env })
      match(errors, expected)
      equal(code, 1)
    }
  })

  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, errors } = await fail('hello', { ...choice, PORT: port })
    other.close()
    equal(code, 1)
    // Without any NGINX here, that is what it says.
    match(errors, /^(?:Port \d+ on 127\.0\.0\.1 is in use|No NGINX was found).*\n$/)
  })
})

async function stop({ child, ended }: Running): Promise<number | null> {
  child.kill('SIGTERM')
  return (await ended).code
}

async function openWhileDraining(port: string): Promise<Socket> {
  while ((await request({ port, path: '/readyz' })).status !== 503) await sleep(20)
  return open(port)
}

async function open(port: string): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  return socket
}

interface Asked {
  status: number | undefined
  connection: string | undefined
  body: string
}

/** One GET; once more on a new connection if a kept one was closed under it, as RFC 9110 section 9.2.2 allows. */
function request(options: object): Promise<Asked> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = get(options, resolve).once('error', (error) => {
      if (sent.reusedSocket) get(options, resolve).once('error', reject)
      else reject(error)
    })
  }).then(async (response) => ({
    status: response.statusCode,
    connection: response.headers.connection,
    body: await text(response),
  }))
}

/**
 * Asks on a kept connection until the server says that it closes.
 * @param onResponse called after each response
 * @returns the number of responses
 */
async function askUntilClosed(port: string, onResponse: () => void): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let responses = 1; ; responses += 1) {
    const { status, connection } = await request({ port, path: '/', agent })
    equal(status, 200)
    onResponse()
    if (connection === 'close') return responses
  }
}

test('the build is there', () => {
  ok(existsSync(join(import.meta.dirname, '../dist/qjs/ssr.js')), 'run `pnpm build`')
})
