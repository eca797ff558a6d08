import { deepEqual, doesNotMatch, equal, match, notEqual, rejects } from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import Router from '@koa/router'
import request from 'supertest'
import { z } from 'zod'
import { BODY_LIMIT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createApp } from '../src/app.ts'
import { createOptions, ERROR, INFO } from './options.ts'
import { serve } from './serve.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.number().int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = new Router()
  .get('/teas', (ctx) => {
    ctx.body = []
  })
  .get('/teas/:slug', (ctx) => {
    ctx.body = ctx.params
  })
  .post('/teas', (ctx) => {
    const tea = Tea.parse(ctx.request.body)
    ctx.cookies.set('last', 'tea')
    ctx.status = 201
    ctx.body = tea
  })
  .post('/form', (ctx) => {
    ctx.body = ctx.request.body
  })
  .get('/old', (ctx) => ctx.redirect('/teas'))
  .get('/file', (ctx) => {
    ctx.attachment('test.txt')
    ctx.body = createReadStream(import.meta.filename)
  })
  .get('/embeddable', (ctx) => {
    ctx.set('cross-origin-resource-policy', 'cross-origin')
    ctx.body = 'from anywhere'
  })
  .get('/events', (ctx) => {
    const events = new PassThrough()
    ctx.type = 'text/event-stream'
    ctx.body = events
    events.write('data: first\n\n')
    ctx.health.signal.addEventListener('abort', () => events.end('data: last\n\n'))
  })
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/rejects', async () => {
    throw new Error('secret')
  })
  .get('/cannot-be-serialised', (ctx) => {
    ctx.body = { secret: 1n }
  })
  .get('/errors/conflicts', (ctx) => ctx.throw(409, 'It is there.', { headers: { 'retry-after': '1' } }))
  .get('/errors/leaves', (ctx) => ctx.throw(499, 'It left.', { headers: { 'retry-after': '1' } }))
  .get('/errors/plain', () => {
    throw Object.assign(new Error('secret'), { status: 409, headers: { 'retry-after': '1' } })
  })
  .get('/errors/unavailable', (ctx) =>
    ctx.throw(503, 'secret', { expose: true, headers: { 'retry-after': '1' } }),
  )
  .get('/breaks', (ctx) => {
    ctx.status = 200
    ctx.res.write('half')
    throw new Error('secret')
  })
  .get('/breaks/as/a/stream', (ctx) => {
    ctx.body = Readable.from(breakAmid())
  })
  .get('/hangs', () => new Promise(() => {}))

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  const app = createApp(createOptions(), routes).callback()
  const tea = { name: 'Assam', grams: 100 }
  const added = await request(app).post('/teas').send(tea)
  deepEqual([added.status, added.body], [201, tea])
  equal(String(added.headers['set-cookie']), 'last=tea; path=/; httponly')
  deepEqual((await request(app).get('/teas')).body, [])
  const head = await request(app).head('/teas')
  deepEqual([head.status, head.headers['content-length'], head.text ?? ''], [200, '2', ''])
  const options = await request(app).options('/teas')
  deepEqual([options.status, options.headers.allow], [200, 'HEAD, GET, POST'])
})

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes).callback()
  for (const [tea, field, reason] of [
    [{ name: 'Assam', grams: 0 }, 'grams', /expected number to be >=1/],
    [{ grams: 1 }, 'name', /expected string/],
  ] as const) {
    const response = await request(app).post('/teas').send(tea)
    equal(response.status, 400)
    match(response.headers['content-type'] ?? '', /^application\/problem\+json/)
    const { errors, ...problem } = response.body
    deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
    equal(errors[0].field, field)
    match(errors[0].reason, reason)
  }
  const broken = await request(app).post('/teas').type('json').send('{')
  equal(broken.body.title, 'Bad Request')
  match(broken.body.detail, /JSON/)
  const compressed = request(app).post('/teas').type('json').set('content-encoding', 'gzip')
  equal((await compressed.send('no gzip')).status, 400)
  await request(app).post('/teas').expect(400) // no body at all
})

test('forms and downloads work as in any Koa app', async () => {
  const app = createApp(createOptions(), routes).callback()
  const form = await request(app).post('/form').type('form').send('name=Assam&grams=1')
  deepEqual(form.body, { name: 'Assam', grams: '1' })
  const file = await request(app).get('/file')
  equal(file.headers['content-disposition'], 'attachment; filename="test.txt"')
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const app = createApp(createOptions(), routes).callback()
  for (const [path, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/file', 200],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/livez', 200],
  ] as const) {
    const { headers, status: actual } = await request(app).get(path).set('x-request-id', 'r-1')
    equal(actual, status)
    equal(headers['x-request-id'], 'r-1')
    equal(headers['x-powered-by'], undefined)
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      equal(headers[name], value, `${path} ${name}`)
  }
  const { headers } = await request(app).get('/embeddable')
  equal(headers['cross-origin-resource-policy'], 'cross-origin')
  equal(headers['x-content-type-options'], 'nosniff')
})

test('a path or method without a route is a problem', async () => {
  const app = createApp(createOptions(), routes).callback()
  for (const [response, status, title, allow] of [
    [await request(app).get('/nowhere'), 404, 'Not Found', undefined],
    [await request(app).delete('/teas'), 405, 'Method Not Allowed', 'HEAD, GET, POST'],
    [await request(app).propfind('/teas'), 501, 'Not Implemented', undefined],
    [await request(app).post('/livez'), 405, 'Method Not Allowed', 'HEAD, GET'],
  ] as const) {
    equal(response.status, status)
    equal(response.headers.allow, allow)
    match(response.headers['content-type'] ?? '', /^application\/problem\+json/)
    deepEqual(response.body, { type: 'about:blank', title, status })
  }
})

for (const way of ['throws', 'rejects', 'cannot-be-serialised']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    const response = await request(createApp(options, routes).callback()).get(`/${way}`)
    equal(response.status, 500)
    deepEqual(response.body, { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    equal(response.headers['x-content-type-options'], 'nosniff')
    const requestId = response.headers['x-request-id']
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, requestId])
    match(JSON.stringify(failed?.err), way === 'cannot-be-serialised' ? /BigInt/ : /secret.*\.test\.ts/)
    deepEqual([completed?.requestId, completed?.status], [requestId, 500])
    deepEqual(others, [])
  })
}

test('an error by the means of Koa: its status, headers and message; the message of a 5xx is only logged', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options, routes).callback()
  for (const [path, status, told] of [
    ['conflicts', 409, { title: 'Conflict', detail: 'It is there.' }],
    ['leaves', 499, { title: 'Client Error', detail: 'It left.' }],
    ['plain', 409, { title: 'Conflict' }],
    ['unavailable', 503, { title: 'Service Unavailable' }],
  ] as const) {
    const response = await request(app).get(`/errors/${path}`)
    deepEqual([response.status, response.headers['retry-after']], [status, '1'])
    deepEqual(response.body, { type: 'about:blank', status, ...told })
  }
  const lines = await readLines(5)
  deepEqual(
    lines.filter(({ level }) => level === ERROR).map(({ err }) => (err as Error).message),
    ['secret'],
  )
})

for (const path of ['/breaks', '/breaks/as/a/stream']) {
  test(`a handler that fails amid its response (${path}): the connection is cut, and the app lives on`, async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { readLines, ...options } = createOptions()
    await using server = await serve(createApp(options, routes), options)
    let received = ''
    await rejects(async () => {
      const { body } = await fetch(server.url + path)
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk
    })
    doesNotMatch(received, /secret/)
    equal((await fetch(`${server.url}/teas`)).status, 200)
    const lines = await readLines(3)
    deepEqual(lines.map(({ level, msg, status }) => `${level} ${msg} ${status}`).sort(), [
      `${INFO} request completed 200`,
      `${INFO} request completed 200`,
      `${ERROR} failed undefined`,
    ])
    equal(printed.mock.callCount(), 0)
  })
}

test('a handler that never responds: 503 with all headers when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createApp(options, routes), options)
  const response = await fetch(`${server.url}/hangs`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 503)
  equal(response.headers.get('content-type'), PROBLEM_JSON)
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(response.headers.get(name), value)
  equal(response.headers.get('x-request-id'), 'r-1')
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ level, msg, status, requestId }) => [level, msg, status, requestId]),
    [
      [ERROR, 'failed', undefined, 'r-1'],
      [INFO, 'request completed', 503, 'r-1'],
    ],
  )
})

test('a body may have 65,536 bytes, whether its length was announced or not', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  const fit = JSON.stringify({ name: '', grams: 1 }).length
  for (const encode of [(text: string) => text, (text: string) => new Blob([text]).stream()]) {
    const post = (nameLength: number) => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: encode(JSON.stringify({ name: 'x'.repeat(nameLength), grams: 1 })),
        duplex: 'half' as const,
      }
      return fetch(`${server.url}/teas`, init)
    }
    equal((await post(BODY_LIMIT - fit)).status, 201)
    const refused = await post(BODY_LIMIT - fit + 1)
    equal(refused.status, 413)
    match(await refused.text(), /Content Too Large/)
  }
})

test('a stream without an end of its own ends when the server drains', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  const { body, headers } = await fetch(`${server.url}/events`)
  match(headers.get('content-type') ?? '', /^text\/event-stream/)
  let received = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    options.health.drain()
  }
  equal(received, 'data: first\n\ndata: last\n\n')
})

test('keeps a good request id and replaces a bad one', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  const send = async (id: string) => {
    const { headers } = await fetch(`${server.url}/teas`, { headers: { 'x-request-id': id } })
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
  await using server = await serve(createApp(options, routes), options)
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const { health, readLines: _, ...others } = createOptions()
  const options = { ...others, health }
  await using server = await serve(createApp(options, routes), options)
  equal((await fetch(`${server.url}/readyz`)).status, 200)
  health.drain()
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
  const app = createApp(options, routes).callback()
  await request(app).get('/livez')
  await request(app).get('/readyz?from=here')
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await request(app).get('/teas/a?b=c').set({ 'x-request-id': 'first', traceparent })
  await request(app).post('/nowhere').set('x-request-id', 'second')
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ ms, time: _time, pid: _pid, hostname: _hostname, ...line }) => ({ ...line, ms: typeof ms })),
    [
      {
        level: INFO,
        requestId: 'first',
        method: 'GET',
        path: '/teas/a',
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
