import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { request, type Server } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ASSETS } from '#shared/page/server.js'
import type { AppOptions } from '../src/app-options.ts'
import { PROBLEM } from '../src/problem.ts'
import { SECURITY_HEADERS } from '../src/security.ts'
import { createOptions, ERROR, INFO, type Start, serve } from '../src/testing/app.ts'
import { arrivals } from './failures.ts'
import { testPageUnderLoad } from './page-under-load.ts'

/**
 * What every framework on Node does around any route.
 * @param create an app with the failing routes and others @param none no others @param ssr those of the page
 * @param amid what fails amid a response, if a handler writes to that of Node
 */
export function testOnNode<Routes>(
  create: (options: AppOptions, routes: Routes) => Server | Promise<Server>,
  none: Routes,
  ssr: Routes,
  ...amid: Failure[]
): void {
  const start: Start = async (options) => serve(await create(options, none))
  testApp(start)
  testForwarded((options) => create(options, none))
  testBrokenBodies(start, amid)
  testPageUnderLoad(async (options) => serve(await create(options, ssr)))
}

/** What every framework does around any route. The routes that it is asked for are those of `fixtures/failing.ts`. */
export function testApp(start: Start): void {
  test('a route may replace the headers that every response has', async () => {
    await using app = await start(createOptions())
    const { headers } = await fetch(`${app.url}/foreign`)
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'referrer-policy': 'origin' }))
      equal(headers.get(name), value, name)
  })

  for (const [way, cause] of [
    ['throws', /secret/],
    ['rejects', /secret/],
    ['rejects/with/nothing', /./],
  ] as const) {
    test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
      const { readLines, ...options } = createOptions()
      await using app = await start(options)
      const response = await fetch(`${app.url}/${way}`, { headers: { 'x-request-id': 'r-1' } })
      equal(response.status, 500)
      equal(response.headers.get('content-type')?.replace(/;.*/, ''), PROBLEM)
      // Also if the route has set headers for the body that it does not send.
      equal(response.headers.get('cache-control'), 'no-store')
      equal(response.headers.get('content-encoding'), null)
      deepEqual(await response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
      const [failed, completed, ...others] = await readLines(2)
      deepEqual([failed?.level, failed?.requestId], [ERROR, 'r-1'])
      match(JSON.stringify(failed), cause)
      deepEqual([completed?.requestId, completed?.status], ['r-1', 500])
      deepEqual(others, [])
    })
  }

  test("an error by the framework's means keeps status, headers and message, but not that of a 5xx; any other is a 500, and logged", async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    for (const [path, status, retryAfter, told] of [
      ['conflicts', 409, '1', { title: 'Conflict', detail: 'It is there.' }],
      ['unavailable', 503, '1', { title: 'Service Unavailable' }],
      ['foreign', 500, null, { title: 'Internal Server Error' }], // of a dependency, with a status of its own
    ] as const) {
      const response = await fetch(`${app.url}/errors/${path}`)
      deepEqual([response.status, response.headers.get('retry-after')], [status, retryAfter], path)
      deepEqual(await response.json(), { type: 'about:blank', status, ...told })
    }
    const failed = (await readLines(5)).filter(({ level }) => level === ERROR)
    equal(failed.length, 2)
    doesNotMatch(JSON.stringify(failed), /credentials/)
    for (const { err } of failed) match(JSON.stringify(err), /secret/)
  })

  test('a target may be a whole URL, as to a proxy; one that is none is no failure', async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    for (const [target, status] of [
      ['http://shop.example/foreign?a=1', /^200/],
      ['http://[::1/foreign', /^[24]/],
    ] as const) {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
      socket.write(`GET ${target} HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\n\r\n`)
      match((await text(socket)).slice(9, 12), status, target)
    }
    const failed = (await readLines(1)).filter(({ level }) => level === ERROR)
    deepEqual(failed, [])
  })

  test('a Host that no URL may have is no failure behind a trusted proxy', async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: 'loopback' })
    await using app = await start(options)
    await once(request(`${app.url}/client`, { headers: { host: 'a:99999' } }).end(), 'response')
    await fetch(`${app.url}/client`)
    const failed = (await readLines(1)).filter(({ level }) => level === ERROR)
    deepEqual(failed, [])
  })

  testFailures(start, BEFORE)
}

/** What is asked for, what the client waits for before it leaves (or what it gets), and the cause in the log. */
type Failure = [path: string, client: 'request' | 'data' | RegExp, cause?: RegExp]

const BEFORE: Failure[] = [
  ['/late', 'request', /secret/],
  ['/late/aborts', 'request'],
]

const AMID: Failure[] = [
  ['/ends/before', /^500$|^(200)? cut$/, /PREMATURE_CLOSE/],
  ['/breaks', /cut$/, /secret/],
  ['/breaks/as/a/stream', /^200 cut$/, /secret/],
  ['/ends/early', /^200 cut$/, /PREMATURE_CLOSE/],
  ['/stalls', 'data'],
]

/** Whoever fails is logged once, with the cause. Only what was broken off because the client has left is no failure. */
function testFailures(start: Start, failures: Failure[]): void {
  for (const [path, client, cause] of failures)
    for (const leave of ['destroy', 'resetAndDestroy'] as const)
      test(`failure: GET ${path}, ${client}, ${leave}`, async () => {
        const { readLines, ...options } = createOptions()
        await using app = await start(options)
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
        const awaited = client === 'request' ? once(arrivals, client) : once(socket, 'data')
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
        if (client instanceof RegExp) {
          const response = await text(socket).catch(() => '') // reset before its head
          const isWhole = /\r\n0\r\n\r\n$|content-length/i.test(response)
          match(`${response.slice(9, 12)}${isWhole ? '' : ' cut'}`, client)
          doesNotMatch(response, /secret/)
        } else await awaited
        socket[leave]()
        const count = cause ? 2 : 1
        await readLines(count)
        await (await fetch(`${app.url}/nowhere`)).text() // by now, another would have its line
        const lines = await readLines(count + 1)
        const failed = lines.filter(({ level }) => level !== INFO)
        deepEqual([lines.length, failed.length], [count + 1, count - 1])
        if (cause) match(JSON.stringify(failed), cause)
      })
}

/** For runtimes on which the app learns that the body of a response failed. */
function testBrokenBodies(start: Start, more: Failure[]): void {
  testFailures(start, [...AMID, ...more])

  test('the 503 of a silent handler has what CORS set before, and not the headers of the body', async () => {
    await using app = await start(createOptions({ HANDLER_TIMEOUT_MS: '100' }))
    const { status, headers } = await fetch(`${app.url}/hangs`)
    deepEqual([status, headers.get('access-control-allow-origin')], [503, '*'])
    equal(headers.get('content-encoding'), null)
  })

  test('an upgrade that the app does not know is ignored, also behind a trusted proxy', async () => {
    await using app = await start(createOptions({ TRUST_PROXY: 'loopback' }))
    const headers = { connection: 'upgrade', upgrade: 'h2c' } // as curl --http2 and Apache ask
    const signal = AbortSignal.timeout(120_000)
    const [response] = await once(request(`${app.url}/livez`, { headers }).end(), 'response', { signal })
    equal(response.resume().statusCode, 200)
  })
}

/** What the runtime adds, and what it makes of a body. */
const OF_RUNTIME = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/**
 * For frameworks whose app is a function of a `Request`.
 * @param create an app with the page, the failing routes, `/fetched`, which returns what `fetched` does, and `/redirect` by `Response.redirect()`
 */
export function testRequests(
  create: (
    options: AppOptions,
    fetched: () => Promise<Response>,
  ) => { server: Server; request(path: string, init: RequestInit): Response | Promise<Response> },
): void {
  test('without a server, a request has the status, the headers, the body and the line in the log of what a client gets', async () => {
    await using upstream = await serve((_request, response) => {
      const own = { 'x-request-id': 'other', 'set-cookie': ['a=1', 'b=2'], 'referrer-policy': 'origin' }
      response.writeHead(203, { ...own, 'content-type': 'text/x-tea' }).end('fetched')
    })
    const { readLines, ...options } = createOptions()
    const { request, server } = create(options, () => fetch(upstream.url))
    await using app = await serve(server)
    // `fetch()` would say no-cache otherwise.
    const since = { 'if-modified-since': new Date().toUTCString(), 'cache-control': 'max-age=0' }
    let completed = 0
    for (const [path, status, init = {}] of [
      ['/livez', 200],
      ['/fetched', 203],
      ['/fetched', 203, { method: 'HEAD' }],
      ['/foreign', 200],
      ['/redirect', 302],
      ['/?items=a', 400],
      ['/stream?items=1&delay=1', 200, { method: 'HEAD' }],
      [String(ASSETS[0]), 304, { headers: since }],
      ['/nowhere', 404],
      ['/throws', 500],
      ['/errors/unavailable', 503],
      ['/breaks', 200],
    ] as [string, number, RequestInit?][]) {
      const headers = { ...init.headers, 'accept-encoding': 'identity', 'x-request-id': 'r-1' }
      const told = []
      for (const ask of [request, (path: string, init: RequestInit) => fetch(app.url + path, init)]) {
        const response = await ask(path, { redirect: 'manual', ...init, headers })
        const body = (await response.text().catch(() => 'cut')).replace(/http:..[^/]*/, 'ORIGIN')
        const own = [...response.headers]
          .filter(([name]) => !OF_RUNTIME.includes(name))
          .map(([name, value]) => [name, value.replace('; charset', ';charset').replace(/nonce-[^']*/, '')])
        equal(response.headers.get('x-request-id'), 'r-1', path)
        for (const name of Object.keys(SECURITY_HEADERS)) ok(response.headers.has(name), `${path} ${name}`)
        told.push({ status: response.status, own, body })
      }
      equal(told[0]?.status, status, path)
      deepEqual(told[0], told[1], path)
      if (path !== '/livez') completed += 2
    }
    let lines: Awaited<ReturnType<typeof readLines>> = []
    for (let count = 0; lines.length < completed; count++)
      lines = (await readLines(count)).filter(({ level }) => level === INFO)
    const told = Map.groupBy(lines, ({ method, path, route, status, requestId }) =>
      JSON.stringify([method, path, route, status, requestId]),
    )
    equal(told.size, completed / 2)
    for (const both of told.values()) equal(both.length, 2)
  })
}

/**
 * The log of a framework that knows the route as it was registered.
 * @param start an app with the route `/users/:user/items/:item`, mounted in two parts
 */
export function testLoggedRoute(start: Start): void {
  test('the log has the route as it was registered, the raw path and the trace, and no line of a probe', async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    await fetch(`${app.url}/livez`)
    const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    await fetch(`${app.url}/users/1/items/a%20b?c=d`, { headers })
    await fetch(`${app.url}/nowhere`)
    const [found, lost] = await readLines(2)
    deepEqual([found?.path, found?.route], ['/users/1/items/a%20b', '/users/:user/items/:item'])
    equal(found?.trace_id, '4bf92f3577b34da6a3ce929d0e0e4736')
    deepEqual([lost?.path, lost?.route, lost?.status], ['/nowhere', undefined, 404])
  })
}

/** @param ask sends a request of a peer to `/client`, which tells the client, the URL in two ways, and the body */
export function testForwardedRequests(
  ask: (options: AppOptions, request: Request, peer: string) => Response | Promise<Response>,
): void {
  test('the client of a request behind a trusted proxy, on any runtime, also of one with a body', async () => {
    const headers = { 'x-forwarded-for': CLIENT, ...HEADERS }
    for (const [peer, client, origin] of [
      ['10.0.0.1', CLIENT, 'https://shop.example'],
      ['198.51.100.1', '198.51.100.1', 'http://localhost'],
    ] as const)
      for (const init of [{}, { method: 'POST', body: 'tea' }]) {
        const request = new Request('http://localhost/client', { headers, ...init })
        const told = await ask(createOptions({ TRUST_PROXY }), request, peer)
        const url = `${origin}/client`
        deepEqual(await told.json(), [client, url, url, init.body ?? ''])
      }
  })
}

const CLIENT = '203.0.113.7'

const CASES: [what: string, peer: string, forwardedFor: string, client: string, isTrusted: boolean][] = [
  ['a trusted peer', '10.0.0.1', CLIENT, CLIENT, true],
  ['a trusted peer on a dual-stack socket', '::ffff:10.0.0.1', CLIENT, CLIENT, true],
  ['a trusted IPv6 peer', 'fd00::1', '2001:db8::7', '2001:db8::7', true],
  ['two proxies, and a forged entry', '10.0.0.1', `192.0.2.1, ${CLIENT}, 10.0.0.2`, CLIENT, true],
  ['a proxy that adds ports', '10.0.0.1', `192.0.2.1, ${CLIENT}:4711, 10.0.0.2:80`, CLIENT, true],
  ['a proxy that adds brackets', 'fd00::1', '[2001:db8::7]:4711, [fd00::2]', '2001:db8::7', true],
  ['a peer that is not trusted', '198.51.100.1', CLIENT, '198.51.100.1', false],
]

const TRUST_PROXY = '10.0.0.0/8, fd00::/8'
const HEADERS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

type Behind = [forwardedFor: string, client: string, isTrusted: boolean]

/** What the framework tells a route about the client behind a proxy, and the log. The routes are those of `fixtures/failing.ts`. */
export function testBehind(start: Start, what: string, proxies: string, ...behind: Behind): void {
  const [forwardedFor, client, isTrusted] = behind
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: proxies })
    await using app = await start(options)
    const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor }
    const ask = (path: string) => fetch(app.url + path, { headers, redirect: 'manual' })
    const { protocol, host } = new URL(isTrusted ? 'https://shop.example' : app.url)
    const told = await (await ask('/client')).json()
    deepEqual(told, { client, scheme: protocol.slice(0, -1), host })
    const [line] = await readLines(1)
    equal(line?.client, client)
    equal((await ask('/moved')).headers.get('location'), `${protocol}//${host}/me`)
  })
}

/** For apps on Node, whose connections can pretend to have another peer. */
function testForwarded(create: (options: AppOptions) => Server | Promise<Server>): void {
  for (const [what, peer, ...behind] of CASES)
    testBehind(async (options) => serve(pretend(await create(options), peer)), what, TRUST_PROXY, ...behind)
}

/** Gives the connections of a server another peer. */
function pretend(server: Server, peer: string): Server {
  return server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
}
