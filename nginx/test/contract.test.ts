import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { claimPort } from '../src/render/address.ts'
import { renderNginx } from '../src/render/render.ts'
import type { Instance } from '../src/run/instance.ts'
import {
  ANY,
  type App,
  app,
  assertProblem,
  exchange,
  frontOf,
  makeDirectory,
  request,
  type Sent,
  skip,
  start,
  startApp,
} from './support.ts'

/** What NGINX itself does for an app, whatever app it is: behind NGINX the suite cannot tell which of both refused something. */

/** What the app is told of the client. */
const OF_CLIENT = {
  host: 'example.test:81',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-proto': 'http',
  'x-forwarded-host': 'example.test:81',
}
const FORGED = ['X-Forwarded-For: 10.1.1.1', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: forged.example']
const TARGETS = [
  ...['/', '/json?x=1&y=%zz', '/a%2Fb', '//json', '/JSON', '/json/', '/x/../json', '/x/./json'],
  ...['/hello/%E2%82%AC', '/hello/a+b', '/hello/%20', '/%6Ason', '/%FF', '/assets/app.js'],
]

const MOST_BODY = 65_536
const chunk = `8000\r\n${'c'.repeat(0x8000)}\r\n`

/** A header section of so many bytes. */
function headed(bytes: number): Sent {
  const others = 'GET /big HTTP/1.1\r\nHost: example.test:81\r\nConnection: close\r\nx-big: \r\n\r\n'.length
  return { target: '/big', headers: [`x-big: ${'h'.repeat(bytes - others)}`] }
}

const at = (targets: readonly string[], more: Omit<Sent, 'target'> = {}): Sent[] =>
  targets.map((target) => ({ target, ...more }))

const HOSTS = ['x@a.test', 'a.test:http', '::1', '[::1', 'a%2']
const TWO_HOSTS = { headers: ['x-request-id: before', 'Host: other.test'] }
const TOO_LONG = { headers: ['x-request-id: big', `Content-Length: ${MOST_BODY + 1}`] }
const CHUNKED = { headers: ['Transfer-Encoding: chunked'], body: `${chunk.repeat(3)}0\r\n\r\n` }
/** An escape that is not hex, NUL, or a path above the root. */
const UNDECODABLE = ['/%zz', '/%', '/json%2', '/hello/%00', '/../json', '/assets/%zz']

/** What NGINX refuses itself, with which status, and with the id of the request where it has one. */
const REFUSED: readonly (readonly [what: string, status: number, requests: readonly Sent[]])[] = [
  [
    'a Host that is not host[:port]',
    400,
    HOSTS.flatMap((host) => at(['/json', 'http://b.test/x'], { host })),
  ],
  ['a fragment', 400, at(['/json?a#x', 'http://other.test/x?a#x'])],
  ['two Host headers', 400, at(['/json', '/assets/app.js'], TWO_HOSTS)],
  ['a path that cannot be decoded', 400, at(UNDECODABLE)],
  // NGINX checks the length before the app finds that a path is not UTF-8.
  ['a body that is too large', 413, at(['/echo', '/%E2%82%AC', '/%FF'], { method: 'POST', ...TOO_LONG })],
  ['such a body in chunks', 413, at(['/echo'], { method: 'POST', ...CHUNKED })],
  ['a header line over 16 KiB', 431, [17_000, 20_000].map(headed)],
  ['a request line over 16 KiB', 414, at([`/${'p'.repeat(17_000)}`])],
  ['TRACE', 405, at(['/json'], { method: 'TRACE' })],
]

describe('contract', { skip }, () => {
  let onSocket: App
  let instance: Instance

  before(async () => {
    const socketPath = join(makeDirectory('startgrid tést-'), 'app.sock')
    onSocket = await startApp(socketPath)
    const dead = { host: '127.0.0.1', port: 1 }
    const upstreams = [app.address, { socketPath }, dead]
    instance = await start({ fronts: upstreams.map((one, at) => frontOf(one, { name: `app-${at}` })) })
  })

  const address = (front = 0) => instance.addresses[front] ?? ANY
  const ask = ({ target, ...options }: Sent) => request(address(), target, options)

  test('the app sees target, method and body as they were sent', async () => {
    const requests: Sent[] = [
      ...at(TARGETS),
      ...METHODS.filter((method) => !/CONNECT|TRACE/.test(method)).map((method) => ({
        target: '/json',
        method,
        body: /GET|HEAD/.test(method) ? '' : 'x=1',
      })),
      { target: '/echo', method: 'POST', body: 'b'.repeat(MOST_BODY) },
      headed(16_000),
    ]
    for (const { target, method = 'GET', body = '', headers = [] } of requests) {
      const { status } = await ask({ target, method, headers, ...(body !== '' && { body }) })
      const { method: seen, url, body: read } = app.seen.at(-1) ?? {}
      assert.deepEqual([status, seen, url, read], [200, method, target, body])
    }
  })

  test('headers: forged ones of proxies are overwritten, the others untouched, none added to the response', async () => {
    const id = 'X-Request-Id: abc-DEF_1-2'
    const response = await ask({
      target: '/json',
      headers: [...FORGED, 'Accept-Language: de', 'X_Request_Id: spoofed', id],
    })
    const { connection: _, ...seen } = app.received()
    assert.deepEqual(seen, { ...OF_CLIENT, 'x-request-id': 'abc-DEF_1-2', 'accept-language': 'de' })
    const { date, connection, 'content-length': length, ...headers } = response.headers
    assert.ok(date && connection && length)
    const own = { server: 'nginx', 'x-request-id': 'abc-DEF_1-2' }
    assert.deepEqual(headers, { 'content-type': 'application/json', ...own })
  })

  test('a request id that is missing or not acceptable is replaced', async () => {
    const idFor = async (...headers: readonly string[]) =>
      (await ask({ target: '/json', headers })).headers['x-request-id'] ?? ''
    assert.match(await idFor(), /^[0-9a-f]{32}$/)
    for (const id of ['a b', 'x'.repeat(65), 'a.b', 'ä', '{"a":1}'])
      assert.match(await idFor(`x-request-id: ${id}`), /^[0-9a-f]{32}$/, id)
    assert.equal(await idFor(`x-request-id: ${'x'.repeat(64)}`), 'x'.repeat(64))
  })

  test('the authority of an absolute target replaces the Host, and HTTP/1.0 needs none', async () => {
    await ask({ target: 'http://other.test:82/x?y' })
    const { host, 'x-forwarded-host': forwarded } = app.received()
    assert.deepEqual([app.seen.at(-1)?.url, host, forwarded], ['/x?y', 'other.test:82', 'other.test:82'])
    assert.match(await exchange(address(), 'GET /old HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /)
    assert.equal(app.received().host, 'localhost')
  })

  for (const [what, status, requests] of REFUSED)
    test(`${what}: ${status}`, async () => {
      for (const sent of requests) {
        const [, id] = /^x-request-id: (.*)/.exec(sent.headers?.[0] ?? '') ?? []
        // NGINX reads no header behind a target that it cannot parse.
        const isRead = id !== undefined && !sent.target.startsWith('/%z')
        assertProblem(await ask(sent), status, isRead ? { 'x-request-id': id } : {})
      }
    })

  test('no app behind: 502 with the headers of the contract', async () => {
    const response = await request(address(2), '/script.js', { headers: ['x-request-id: down'] })
    assertProblem(response, 502, { 'x-request-id': 'down' })
  })

  test("the app's own errors pass untouched, and an error of NGINX has no body for HEAD", async () => {
    const { status, headers, body } = await ask({ target: '/app-error' })
    assert.deepEqual([status, headers['x-mine'], body.toString()], [503, 'yes', 'from the app'])
    assert.equal(headers['content-security-policy'], undefined)
    const head = await ask({ target: '/%zz', method: 'HEAD' })
    assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [400, '57', 0])
  })

  test('a 304 tells caches that the page depends on Accept-Encoding', async () => {
    const { status, headers } = await ask({ target: '/unchanged' })
    assert.deepEqual([status, headers.vary], [304, 'Accept-Encoding'])
  })

  test('connections to the app are kept, over TCP and over a unix socket', async () => {
    for (const [front, one] of [app, onSocket].entries()) {
      const earlier = one.connections()
      for (let n = 0; n < 20; n++) await request(address(front), `/count/${n}`)
      assert.equal(one.seen.at(-1)?.url, '/count/19')
      assert.ok(one.connections() - earlier <= 1)
    }
  })

  test('a WebSocket passes on any path, h2c does not', async () => {
    const upgrade = (protocol: string) =>
      `GET /any HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`
    assert.match(await exchange(address(), upgrade('websocket')), /^HTTP\/1\.1 101 .*hello$/s)
    assert.match(await exchange(address(), upgrade('h2c')), /^HTTP\/1\.1 200 /)
  })

  test('a location with a header of its own loses no other, if it is written as the documentation shows', async () => {
    const documentation = readFileSync(new URL('../../docs/behind-a-proxy.md', import.meta.url), 'utf8')
    const [, location = ''] = /```nginx\n(location \/reports\/ \{[^`]*)```/.exec(documentation) ?? []
    const listen = { ...ANY, port: await claimPort(ANY) }
    const fronts = [frontOf(app.address, { listen })]
    await start({
      listen: [listen],
      config: (main) => renderNginx({ ...main, fronts }).replace(/^ *location = \/stream/m, `${location}$&`),
    })
    await request(listen, '/reports/1', { headers: ['X-Request-Id: mine'] })
    const { connection: _, ...seen } = app.received()
    assert.deepEqual(seen, { ...OF_CLIENT, 'x-report': 'yes', 'x-request-id': 'mine' })
  })
})
