import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import Router from '@koa/router'
import request from 'supertest'
import { z } from 'zod'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { serve } from '#shared/http/testing.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.number().int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = new Router()
  .get('/teas', (ctx) => {
    ctx.body = []
  })
  .post('/teas', (ctx) => {
    const tea = Tea.parse(ctx.request.body)
    ctx.status = 201
    ctx.body = tea
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
  .get('/foreign', (ctx) => {
    ctx.set('x-request-id', 'other')
    ctx.body = 'fetched'
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

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes).callback()
  const unfit = await request(app).post('/teas').send({ name: 'Assam', grams: 0 }).expect(400)
  match(unfit.headers['content-type'] ?? '', /^application\/problem\+json/)
  const { errors, ...problem } = unfit.body
  deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
  equal(errors[0].field, 'grams')
  match(errors[0].reason, /expected number to be >=1/)
  const broken = await request(app).post('/teas').type('json').send('{').expect(400)
  match(broken.body.detail, /JSON/)
  const compressed = request(app).post('/teas').type('json').set('content-encoding', 'gzip')
  equal((await compressed.send('no gzip')).status, 400)
  await request(app).post('/teas').expect(400) // no body at all
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const app = createApp(createOptions(), routes).callback()
  for (const [path, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/file', 200],
    ['/nowhere', 404],
    ['/foreign', 200],
    ['/throws', 500],
    ['/livez', 200],
  ] as const) {
    const { headers } = await request(app).get(path).set('x-request-id', 'r-1').expect(status)
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
    const app = createApp(options, routes).callback()
    const response = await request(app).get(`/${way}`).set('x-request-id', 'r-1').expect(500)
    deepEqual(response.body, { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    equal(response.headers['x-content-type-options'], 'nosniff')
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, 'r-1'])
    match(JSON.stringify(failed?.err), way === 'cannot-be-serialised' ? /BigInt/ : /secret.*\.test\.ts/)
    deepEqual([completed?.requestId, completed?.status], ['r-1', 500])
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
    await using server = await serve(createApp(options, routes).callback(), options)
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

test('a stream without an end of its own ends when the server drains', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes).callback(), options)
  const { body, headers } = await fetch(`${server.url}/events`)
  match(headers.get('content-type') ?? '', /^text\/event-stream/)
  let received = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    options.health.drain()
  }
  equal(received, 'data: first\n\ndata: last\n\n')
})

test('is alive but not ready while a check fails, and does not say which', async () => {
  const options = createOptions()
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  const app = createApp(options, routes).callback()
  await request(app).get('/readyz').expect(503, { status: 'fail' })
  await request(app).get('/livez').expect(200, { status: 'pass' })
})
