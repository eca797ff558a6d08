import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { testClient } from 'hono/testing'
import { z } from 'zod'
import { BODY_LIMIT, PROBLEM_JSON } from '#shared/http/contract.ts'
import type { FieldError, Problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { serve } from '#shared/http/testing.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { validator } from '../src/middleware/validator.ts'
import { createNodeServer } from '../src/node-server.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = new Hono()
  .get('/teas', (c) => c.json([]))
  .get('/teas/:slug', (c) => c.json(c.req.param()))
  .post('/teas', validator('json', Tea), (c) => c.json(c.req.valid('json'), 201))
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

function breakAmid(): ReadableStream {
  let pulls = 0
  return new ReadableStream({
    async pull(controller) {
      if (pulls++ > 0) throw new Error('secret')
      controller.enqueue(new TextEncoder().encode('half'))
    },
  })
}

const post = (body: string | Blob, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: typeof body === 'string' ? body : body.stream(),
  ...(body instanceof Blob && { duplex: 'half' }),
})

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  const client = testClient(createApp(createOptions(), routes))
  const added = await client.teas.$post({ json: { name: 'Assam', grams: 100 } })
  equal(added.status, 201)
  const tea: { name: string; grams: number } = await added.json()
  deepEqual(tea, { name: 'Assam', grams: 100 })
  deepEqual(await (await client.teas.$get()).json(), [])
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
  await using server = await serve(createNodeServer(createOptions(), routes))
  for (const [path, status] of [
    ['/teas', 200],
    ['/plain', 200],
    ['/old', 302],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/throws/text', 500],
    ['/livez', 200],
  ] as const) {
    const response = await fetch(server.url + path, {
      headers: { 'x-request-id': 'r-1' },
      redirect: 'manual',
    })
    equal(response.status, status)
    equal(response.headers.get('x-request-id'), 'r-1')
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      equal(response.headers.get(name), value, `${path} ${name}`)
  }
  for (const path of ['/embeddable', '/embeddable/plain']) {
    const { headers } = await fetch(server.url + path)
    equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
    equal(headers.get('x-content-type-options'), 'nosniff')
    deepEqual(headers.getSetCookie(), path === '/embeddable' ? [] : ['a=1', 'b=2'])
  }
})

test('a fetched response, which is immutable, gets the headers and the id of this request, on Node and elsewhere', async () => {
  await using upstream = await serve(
    createServer((_request, response) => {
      response.writeHead(203, { 'x-request-id': 'another', 'referrer-policy': 'origin' }).end('fetched')
    }),
  )
  const fetching = new Hono().get('/fetched', () => fetch(upstream.url))
  await using server = await serve(createNodeServer(createOptions(), fetching))
  const init = { headers: { 'x-request-id': 'r-1' } }
  for (const response of [
    await fetch(`${server.url}/fetched`, init),
    await createApp(createOptions(), fetching).request('/fetched', init),
  ]) {
    deepEqual([response.status, await response.text()], [203, 'fetched'])
    equal(response.headers.get('x-request-id'), 'r-1')
    equal(response.headers.get('referrer-policy'), 'origin')
    equal(response.headers.get('x-content-type-options'), 'nosniff')
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

test('is alive but not ready while a check fails, and does not say which', async () => {
  const options = createOptions()
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  await using server = await serve(createNodeServer(options, routes))
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('logs one line per response, with the route and the trace, without the query, and none for a probe', async () => {
  const { readLines, ...options } = createOptions()
  const getConnInfo = () => ({ remote: { address: '127.0.0.1' } })
  const app = createApp({ ...options, getConnInfo }, routes)
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

test('a body that is malformed is 400, also in a route without a validator; other errors of the same types are 500', async () => {
  const own = new Hono()
    .post('/json', async (c) => c.json(await c.req.json()))
    .post('/form', async (c) => c.json(await c.req.parseBody()))
    .post('/named', validator('form', Tea.pick({ name: true })), (c) => c.text(c.req.valid('form').name))
    .post('/data', async (c) => c.json([...(await c.req.formData()).keys()]))
    .post('/own', async (c) => {
      await c.req.json()
      return c.json(JSON.parse('{"a":'))
    })
  const app = createApp(createOptions(), own)
  const form = 'multipart/form-data; boundary=x'
  for (const [path, body, type, status] of [
    ['/json', '{"a":1}', 'application/json', 200],
    ['/json', '{"a":', 'application/json', 400],
    ['/form', 'a=1', 'application/x-www-form-urlencoded', 200],
    ['/form', 'no boundary', form, 400],
    ['/data', 'no boundary', form, 400],
    ['/named', 'no boundary', form, 400],
    ['/named', 'name=', 'application/x-www-form-urlencoded', 400],
    ['/own', '{}', 'application/json', 500],
  ] as const)
    equal((await app.request(path, post(body, type))).status, status, path)
})

test('a body over the limit is 413, and a bodyLimit() of the route or of its part of the app is the limit instead', async () => {
  const large = new Hono()
    .use(bodyLimit({ maxSize: 2 * BODY_LIMIT }))
    .onError((error) => {
      throw error
    })
    .post('/', async (c) => c.json((await c.req.text()).length))
  const own = new Hono()
    .post('/usual', async (c) => c.json((await c.req.text()).length))
    .post('/larger', bodyLimit({ maxSize: 2 * BODY_LIMIT }), async (c) => c.json((await c.req.text()).length))
    .route('/part', large)
  const app = createApp(createOptions(), own)
  for (const [path, limit] of [
    ['/usual', BODY_LIMIT],
    ['/larger', 2 * BODY_LIMIT],
    ['/part', 2 * BODY_LIMIT],
  ] as const) {
    equal((await app.request(path, post(new Blob(['x'.repeat(limit)])))).status, 200, path)
    const refused = await app.request(path, post(new Blob(['x'.repeat(limit + 1)])))
    deepEqual([refused.status, refused.headers.get('connection')], [413, 'close'], path)
  }
})
