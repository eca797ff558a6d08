import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import express, { Router } from 'express'
import createError from 'http-errors'
import request from 'supertest'
import { z } from 'zod'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { serve } from '#shared/http/testing.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.number().int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = Router()
  .get('/teas', (_request, response) => {
    response.json([])
  })
  .post('/teas', (request, response) => {
    const tea = Tea.parse(request.body)
    response.status(201).json(tea)
  })
  .get('/old', (_request, response) => response.redirect('/teas'))
  .get('/file', (_request, response) => response.download(import.meta.filename, 'test.txt'))
  .get('/embeddable', (_request, response) => {
    response.set('cross-origin-resource-policy', 'cross-origin').send('from anywhere')
  })
  .get('/events', (request, response) => {
    response.type('text/event-stream').write('data: first\n\n')
    request.app.locals.health.signal.addEventListener('abort', () => response.end('data: last\n\n'))
  })
  .get('/foreign', (_request, response) => {
    response.set('x-request-id', 'other').writeHead(200, { 'X-Request-Id': 'other' }).end()
  })
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/rejects', async () => {
    throw new Error('secret')
  })
  .get('/errors/conflicts', () => {
    throw createError(409, 'It is there.', { headers: { 'retry-after': '1' } })
  })
  .get('/errors/leaves', () => {
    throw createError(499, 'It left.', { headers: { 'retry-after': '1' } })
  })
  .get('/errors/plain', () => {
    throw Object.assign(new Error('secret'), { status: 409, headers: { 'retry-after': '1' } })
  })
  .get('/errors/unavailable', (_request, _response, next) => {
    next(createError(503, 'secret', { expose: true, headers: { 'retry-after': '1' } }))
  })
  .get('/breaks', (_request, response) => {
    response.write('half')
    throw new Error('secret')
  })
  .get('/breaks/as/a/stream', async (_request, response) => {
    await pipeline(Readable.from(breakAmid()), response)
  })

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes)
  const unfit = await request(app).post('/teas').send({ name: 'Assam', grams: 0 }).expect(400)
  match(unfit.headers['content-type'] ?? '', /^application\/problem\+json/)
  const { errors, ...problem } = unfit.body
  deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
  equal(errors[0].field, 'grams')
  match(errors[0].reason, /expected number to be >=1/)
  const broken = await request(app).post('/teas').type('json').send('{').expect(400)
  match(broken.body.detail, /JSON/)
  await request(app).post('/teas').expect(400) // no body at all
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const app = createApp(createOptions(), routes)
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

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    const app = createApp(options, routes)
    const response = await request(app).get(`/${way}`).set('x-request-id', 'r-1').expect(500)
    deepEqual(response.body, { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, 'r-1'])
    match(JSON.stringify(failed?.err), /secret.*\.test\.ts/)
    deepEqual([completed?.requestId, completed?.status], ['r-1', 500])
    deepEqual(others, [])
  })
}

test('an error by the means of Express: its status, headers and message; the message of a 5xx is only logged', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options, routes)
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

test('is alive but not ready while a check fails, and does not say which', async () => {
  const options = createOptions()
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  const app = createApp(options, routes)
  await request(app).get('/readyz').expect(503, { status: 'fail' })
  await request(app).get('/livez').expect(200, { status: 'pass' })
})

test('the route in the log is as it was registered, whatever the client wrote', async () => {
  const items = Router().get('/items/:item', (_request, response) => response.sendStatus(204))
  const mounts = Router()
    .use('/users/:user', Router().use('/:year', items))
    .use('/shop', items)
    .use(/^\/old/, items)
  const { readLines, ...options } = createOptions()
  const app = express().use('/api/:version', createApp(options, mounts))
  for (const path of ['/users/1/2026/items/a', '/SHOP/items/a', '/old/items/a'])
    equal((await request(app).get(`/api/1${path}`)).status, 204)
  deepEqual(
    (await readLines(3)).map(({ route }) => route),
    ['/api/:version/users/:user/:year/items/:item', '/api/:version/shop/items/:item', '/items/:item'],
  )
})
