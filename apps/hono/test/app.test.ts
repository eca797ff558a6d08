import { deepEqual, equal, match } from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { testClient } from 'hono/testing'
import { z } from 'zod'
import type { FieldError, Problem } from '#shared/http/problem.ts'
import { PROBLEM_JSON } from '#shared/http/problem.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testApp, testBrokenBodies } from '#shared/testing-before/app.ts'
import { createOptions, INFO } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { validator } from '../src/middleware/validator.ts'
import { createNodeServer } from '../src/node-server.ts'

const start = (options: AppOptions) => serve(createFailingApp(options, new Hono()), options)
testApp(start)
testBrokenBodies(start)

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

/** Routes that a reader adds. */
const routes = new Hono()
  .get('/teas', (c) => c.json([]))
  .get('/teas/:slug', (c) => c.json(c.req.param()))
  .post('/teas', validator('json', Tea), (c) => c.json(c.req.valid('json'), 201))
  .get('/private', basicAuth({ username: 'ada', password: 'lovelace' }), (c) => c.text('private'))
  .get('/throws/text', () => {
    throw 'secret'
  })

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

test('the response of an HTTPException keeps its headers; a text that is thrown is 500', async () => {
  const app = createApp(createOptions(), routes)
  const refused = await app.request('/private')
  deepEqual([refused.status, refused.headers.get('content-type')], [401, PROBLEM_JSON])
  match(refused.headers.get('www-authenticate') ?? '', /^Basic /)
  equal((await app.request('/throws/text')).status, 500)
})

test('several headers of one name are kept, on Node, too', async () => {
  const cookies = new Hono().get('/cookies', () => {
    const headers = new Headers()
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    return new Response('', { headers })
  })
  await using server = await serve(createNodeServer(createOptions(), cookies))
  deepEqual((await fetch(`${server.url}/cookies`)).headers.getSetCookie(), ['a=1', 'b=2'])
})
