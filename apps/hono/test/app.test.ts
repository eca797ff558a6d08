import { deepEqual, doesNotMatch, equal, match, notEqual, rejects } from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { hc } from 'hono/client'
import { setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import { BODY_LIMIT, PROBLEM_JSON } from '#shared/http/contract.ts'
import type { Health } from '#shared/http/health.ts'
import type { FieldError, Problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createApp } from '../src/app.ts'
import { validator } from '../src/middleware/validator.ts'
import { createNodeServer } from '../src/node-server.ts'
import { createOptions, ERROR, INFO } from './options.ts'
import { serve } from './serve.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = new Hono()
  .get('/teas', (c) => c.json([]))
  .get('/teas/:slug', (c) => c.json(c.req.param()))
  .post('/teas', validator('json', Tea), (c) => {
    setCookie(c, 'last', 'tea', { httpOnly: true })
    return c.json(c.req.valid('json'), 201)
  })
  .post('/teas/form', validator('form', Tea.pick({ name: true })), (c) => c.redirect('/teas', 303))
  .get('/old', (c) => c.redirect('/teas'))
  .get('/plain', () => new Response('plain'))
  .get('/embeddable', (c) => c.text('from anywhere', 200, { 'cross-origin-resource-policy': 'cross-origin' }))
  .get('/embeddable/plain', () => {
    const headers = new Headers({ 'cross-origin-resource-policy': 'cross-origin' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    return new Response('from anywhere', { headers })
  })
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/rejects', async () => {
    throw new Error('secret')
  })
  .get('/throws/text', () => {
    throw 'secret'
  })
  .get('/errors/conflicts', () => {
    const res = new Response('It', { headers: { 'retry-after': '1', 'content-length': '2' } })
    throw new HTTPException(409, { message: 'It is there.', res })
  })
  .get('/errors/leaves', (c) => {
    c.header('retry-after', '1')
    throw new HTTPException(499 as 418, { message: 'It left.' })
  })
  .get('/errors/plain', () => {
    throw Object.assign(new Error('secret'), { status: 409, headers: { 'retry-after': '1' } })
  })
  .get('/errors/unavailable', () => {
    throw new HTTPException(503, {
      message: 'secret',
      res: new Response('', { headers: { 'retry-after': '1' } }),
    })
  })
  .get('/private', basicAuth({ username: 'ada', password: 'lovelace' }), (c) => c.text('private'))
  .get('/breaks', (c) => c.body(breakAmid()))
  .get('/breaks/plain', () => new Response(breakAmid()))
  .get('/hangs', () => new Promise(() => {}))
  .post('/echo', async (c) => c.text(await c.req.text()))

function breakAmid(): ReadableStream {
  let pulls = 0
  return new ReadableStream({
    async pull(controller) {
      if (pulls++ > 0) throw new Error('secret')
      controller.enqueue(new TextEncoder().encode('half'))
    },
  })
}

const post = (body: string | ReadableStream, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body,
  ...(body instanceof ReadableStream && { duplex: 'half' }),
})

function assertHeaders(response: Response, label: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    equal(response.headers.get(name), value, `${label} ${name}`)
}

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  const app = createApp(createOptions(), routes)
  const client = hc<typeof routes>('http://localhost', { fetch: app.request })
  const added = await client.teas.$post({ json: { name: 'Assam', grams: 100 } })
  equal(added.status, 201)
  equal(added.headers.get('set-cookie'), 'last=tea; Path=/; HttpOnly')
  const tea: { name: string; grams: number } = await added.json()
  deepEqual(tea, { name: 'Assam', grams: 100 })
  deepEqual(await (await app.request('/teas')).json(), [])
  const form = await app.request('/teas/form', {
    method: 'POST',
    body: new URLSearchParams({ name: 'Assam' }),
  })
  deepEqual([form.status, form.headers.get('location')], [303, '/teas'])
})

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes)
  for (const [payload, field] of [
    [{ name: 'Assam', grams: 0 }, 'grams'],
    [{ grams: 1 }, 'name'],
  ] as const) {
    const response = await app.request('/teas', post(JSON.stringify(payload)))
    equal(response.status, 400)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    const { errors, ...problem } = (await response.json()) as Problem & { errors: FieldError[] }
    deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
    equal(errors[0]?.field, field)
    match(errors[0]?.reason ?? '', /\w+ \w+/)
  }
  const broken = await app.request('/teas', post('{'))
  const { title, detail } = (await broken.json()) as Problem
  deepEqual([title, detail], ['Bad Request', 'Malformed JSON in request body'])
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const app = createApp(createOptions(), routes)
  for (const [path, status] of [
    ['/teas', 200],
    ['/plain', 200],
    ['/old', 302],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/throws/text', 500],
    ['/livez', 200],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const response = await app.request(path, { method, headers: { 'x-request-id': 'r-1' } })
      equal(response.status, status)
      equal(response.headers.get('x-request-id'), 'r-1')
      assertHeaders(response, path)
    }
  }
  for (const path of ['/embeddable', '/embeddable/plain']) {
    const { headers } = await app.request(path)
    equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
    equal(headers.get('x-content-type-options'), 'nosniff')
    deepEqual(headers.getSetCookie(), path === '/embeddable' ? [] : ['a=1', 'b=2'])
  }
})

test('a proxied response gets the headers, and the id of this request', async () => {
  await using upstream = await serve(
    createServer((_request, response) => {
      response.writeHead(203, { 'x-request-id': 'another', 'referrer-policy': 'origin' }).end('proxied')
    }),
  )
  const proxy = new Hono().get('/proxied', () => fetch(upstream.url))
  await using server = await serve(createNodeServer(createOptions(), proxy))
  const response = await fetch(`${server.url}/proxied`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 203)
  equal(await response.text(), 'proxied')
  equal(response.headers.get('x-request-id'), 'r-1')
  equal(response.headers.get('referrer-policy'), 'origin')
  equal(response.headers.get('x-content-type-options'), 'nosniff')
})

test('what has no route is a problem, and a method without a route is told the others', async () => {
  const app = createApp(createOptions(), routes)
  for (const [method, path, status, allow] of [
    ['GET', '/nowhere', 404, null],
    ['DELETE', '/teas', 405, 'GET, HEAD, POST'],
    ['POST', '/livez', 405, 'GET, HEAD'],
  ] as const) {
    const response = await app.request(path, { method })
    equal(response.status, status)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    equal(response.headers.get('allow'), allow)
    assertHeaders(response, path)
    match(await response.text(), new RegExp(`"status":${status}`))
  }
})

for (const way of ['throws', 'rejects', 'throws/text']) {
  test(`/${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    const app = createApp(options, routes)
    const response = await app.request(`/${way}`)
    equal(response.status, 500)
    deepEqual(await response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const requestId = response.headers.get('x-request-id')
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, requestId])
    match(JSON.stringify(failed?.err), /secret/)
    deepEqual([completed?.requestId, completed?.status], [requestId, 500])
    deepEqual(others, [])
  })
}

test('an error by the means of Hono: its status, headers and message; the message of a 5xx is only logged', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options, routes)
  for (const [path, status, told] of [
    ['conflicts', 409, { title: 'Conflict', detail: 'It is there.' }],
    ['leaves', 499, { title: 'Client Error', detail: 'It left.' }],
    ['plain', 409, { title: 'Conflict' }],
    ['unavailable', 503, { title: 'Service Unavailable' }],
  ] as const) {
    const response = await app.request(`/errors/${path}`)
    deepEqual([response.status, response.headers.get('retry-after')], [status, '1'])
    equal(response.headers.get('content-length'), null)
    deepEqual(await response.json(), { type: 'about:blank', status, ...told })
  }
  const refused = await app.request('/private')
  equal(refused.status, 401)
  match(refused.headers.get('www-authenticate') ?? '', /^Basic /)
  equal(refused.headers.get('content-type'), PROBLEM_JSON)
  const lines = await readLines(6)
  deepEqual(
    lines.filter(({ level }) => level === ERROR).map(({ err }) => (err as Error).message),
    ['secret'],
  )
})

for (const path of ['/breaks', '/breaks/plain']) {
  test(`a handler that fails amid its response (${path}): the connection is cut, and the app lives on`, async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { readLines, ...options } = createOptions()
    await using server = await serve(createNodeServer(options, routes))
    let received = ''
    await rejects(async () => {
      const { body } = await fetch(server.url + path)
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk
    })
    doesNotMatch(received, /secret/)
    equal((await fetch(`${server.url}/teas`)).status, 200)
    const lines = await readLines(3)
    deepEqual(
      lines.map(({ level, msg, status }) => [level, msg, status]),
      [
        [ERROR, 'failed', undefined],
        [INFO, 'request completed', 200],
        [INFO, 'request completed', 200],
      ],
    )
    equal(lines[0]?.requestId, lines[1]?.requestId)
    // The adapter prints it besides.
    equal(printed.mock.callCount(), 1)
  })
}

test('a handler that never responds: 503 with all headers when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createNodeServer(options, routes))
  const response = await fetch(`${server.url}/hangs`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 503)
  equal(response.headers.get('content-type'), PROBLEM_JSON)
  assertHeaders(response, '/hangs')
  equal(response.headers.get('x-request-id'), 'r-1')
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ level, msg, status, requestId, client }) => [level, msg, status, requestId, client]),
    [
      [ERROR, 'failed', undefined, 'r-1', undefined],
      [INFO, 'request completed', 503, 'r-1', '127.0.0.1'],
    ],
  )
})

/** Server-sent events: a comment line now and then, until the server drains. */
function createEvents({ signal }: Health) {
  return new Hono().get('/events', (c) =>
    streamSSE(c, async (stream) => {
      stream.onAbort(() => {})
      await stream.writeSSE({ data: 'first' })
      while (!signal.aborted && !stream.aborted) {
        await stream.write(': still here\n\n')
        await sleep(20, undefined, { signal }).catch(() => {})
      }
    }),
  )
}

test('server-sent events outlive the handler timeout, and end when the server drains', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createNodeServer(options, createEvents(options.health)))
  const response = await fetch(`${server.url}/events`)
  assertHeaders(response, '/events')
  let received = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    // At 20 ms each, these take longer than the handler timeout.
    if (received.split(': still here').length > 20) options.health.drain()
  }
  match(received, /^data: first\n\n(: still here\n\n){20,}$/)
  const lines = await readLines(1)
  deepEqual(
    lines.map(({ status }) => status),
    [200],
  )
})

test('a body may have 65,536 bytes, whether its length was announced or not', async () => {
  await using server = await serve(createNodeServer(createOptions(), routes))
  const largest = 'x'.repeat(BODY_LIMIT)
  for (const encode of [(text: string) => text, (text: string) => new Blob([text]).stream()]) {
    const passed = await fetch(`${server.url}/echo`, post(encode(largest), 'text/plain'))
    equal(passed.status, 200)
    equal((await passed.text()).length, BODY_LIMIT)
    const refused = await fetch(`${server.url}/echo`, post(encode(`${largest}x`), 'text/plain'))
    equal(refused.status, 413)
    assertHeaders(refused, '/echo')
    match(await refused.text(), /Content Too Large/)
  }
})

test('keeps a good request id and replaces a bad one', async () => {
  const app = createApp(createOptions(), routes)
  const send = async (id: string) => {
    const { headers } = await app.request('/teas', { headers: { 'x-request-id': id } })
    return headers.get('x-request-id') ?? ''
  }
  equal(await send('Trace_1.2-3'), 'Trace_1.2-3')
  for (const bad of ['', 'two words', 'x'.repeat(65)]) {
    const id = await send(bad)
    notEqual(id, bad)
    match(id, /^[A-Za-z0-9._-]{1,64}$/)
  }
})

test('is alive but not ready while a check fails, and does not say which', async () => {
  const options = createOptions()
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  await using server = await serve(createNodeServer(options, routes))
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const options = createOptions()
  await using server = await serve(createNodeServer(options, routes))
  equal((await fetch(`${server.url}/readyz`)).status, 200)
  options.health.drain()
  for (const [path, status] of [
    ['/readyz', 503],
    ['/livez', 200],
    ['/teas', 200],
    ['/nowhere', 404],
    ['/teas/%zz', 400],
    ['/throws', 500],
  ] as const) {
    const response = await fetch(server.url + path)
    equal(response.status, status, path)
    equal(response.headers.get('connection'), 'close', path)
  }
})

test('logs one line per response, with the route and the trace, without the query, and none for a probe', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options, routes)
  await app.request('/livez')
  await app.request('/readyz?from=here')
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await app.request('/teas/a%20b?b=c', { headers: { 'x-request-id': 'first', traceparent } })
  await app.request('/nowhere', { method: 'POST', headers: { 'x-request-id': 'second' } })
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ ms, time: _time, pid: _pid, hostname: _hostname, ...line }) => ({ ...line, ms: typeof ms })),
    [
      {
        level: INFO,
        requestId: 'first',
        method: 'GET',
        path: '/teas/a%20b',
        route: '/teas/:slug',
        status: 200,
        ms: 'number',
        client: '127.0.0.1',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        msg: 'request completed',
      },
      {
        level: INFO,
        requestId: 'second',
        method: 'POST',
        path: '/nowhere',
        status: 404,
        ms: 'number',
        client: '127.0.0.1',
        msg: 'request completed',
      },
    ],
  )
})

test('a body that a route reads without a validator is 400 if it is malformed, and 413 if it is too large', async () => {
  const app = createApp(
    createOptions(),
    new Hono()
      .post('/json', async (c) => c.json(await c.req.json()))
      .post('/form', async (c) => c.json(await c.req.parseBody()))
      .post('/large', bodyLimit({ maxSize: 2 * BODY_LIMIT }), async (c) => c.json(await c.req.json())),
  )
  const form = 'multipart/form-data; boundary=x'
  equal((await app.request('/json', post('{"a":1}'))).status, 200)
  equal((await app.request('/form', post('a=1', 'application/x-www-form-urlencoded'))).status, 200)
  equal((await app.request('/json', post('{"a":'))).status, 400)
  equal((await app.request('/form', post('no boundary', form))).status, 400)
  const large = (size = BODY_LIMIT) => new Blob([`"${'x'.repeat(size)}"`]).stream()
  equal((await app.request('/json', post(large()))).status, 413)
  equal((await app.request('/large', post(large()))).status, 200)
  const refused = await app.request('/large', post(large(2 * BODY_LIMIT)))
  deepEqual([refused.status, refused.headers.get('connection')], [413, 'close'])
})
