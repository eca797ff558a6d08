import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'

const PLACE = { host: '127.0.0.1', port: 0 }

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  const Tea = Type.Object({ name: Type.String({ minLength: 1 }), grams: Type.Integer({ minimum: 1 }) })
  app.get('/teas', async () => [])
  app.post('/teas', { schema: { body: Tea, response: { 201: Tea } } }, async (request, reply) => {
    reply.code(201)
    return request.body
  })
  app.get('/old', async (_request, reply) => reply.redirect('/teas'))
  app.get('/embeddable', async (_request, reply) =>
    reply.header('cross-origin-resource-policy', 'cross-origin').send('from anywhere'),
  )
  app.get('/throws', () => {
    throw new Error('secret')
  })
  app.get('/rejects', async () => {
    throw new Error('secret')
  })
  app.get('/errors/conflicts', async () => {
    throw app.httpErrors.createError(409, 'It is there.', { headers: { 'retry-after': '1' } })
  })
  app.get('/errors/leaves', async (_request, reply) => {
    reply.header('retry-after', '1').code(499)
    throw new Error('It left.')
  })
  app.get('/errors/hides', async () => {
    const headers = { 'retry-after': '1' }
    throw app.httpErrors.createError(409, 'secret', { expose: false, headers })
  })
  app.get('/errors/sends', (_request, reply) => {
    reply.code(409).header('retry-after', '1').send(new Error('It is there.'))
  })
  app.get('/errors/unavailable', (_request, reply) => {
    reply.header('retry-after', '1').serviceUnavailable('secret')
  })
  app.get('/errors/invalid', async () => {
    throw app.httpErrors.createError(422, { errors: [{ field: 'name', reason: 'is taken' }] })
  })
  app.get('/breaks', (_request, reply) => {
    reply.raw.write('half')
    throw new Error('secret')
  })
  app.get('/breaks/as/a/stream', (_request, reply) => reply.send(Readable.from(breakAmid())))
}

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes)
  for (const [payload, field, reason] of [
    [{ name: 'Assam', grams: 0 }, 'grams', /must be >= 1/],
    [{ grams: 1 }, 'name', /required/],
  ] as const) {
    const response = await app.inject({ method: 'POST', url: '/teas', payload })
    equal(response.statusCode, 400)
    match(String(response.headers['content-type']), /^application\/problem\+json/)
    const { errors, detail, ...problem } = response.json()
    deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
    match(detail, new RegExp(field))
    equal(errors[0].field, field)
    match(errors[0].reason, reason)
  }
  const broken = await app.inject({
    method: 'POST',
    url: '/teas',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  })
  equal(broken.json().title, 'Bad Request')
  match(broken.json().detail, /JSON/)
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const app = createApp(createOptions(), routes)
  for (const [url, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/livez', 200],
  ] as const) {
    const { headers, statusCode } = await app.inject({ url, headers: { 'x-request-id': 'r-1' } })
    equal(statusCode, status)
    equal(headers['x-request-id'], 'r-1')
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      equal(headers[name], value, `${url} ${name}`)
  }
  const { headers } = await app.inject('/embeddable')
  equal(headers['cross-origin-resource-policy'], 'cross-origin')
  equal(headers['x-content-type-options'], 'nosniff')
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    const app = createApp(options, routes)
    const response = await app.inject(`/${way}`)
    equal(response.statusCode, 500)
    deepEqual(response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const requestId = response.headers['x-request-id']
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, requestId])
    match(JSON.stringify(failed?.err), /secret.*\.test\.ts/)
    deepEqual([completed?.requestId, completed?.status], [requestId, 500])
    deepEqual(others, [])
  })
}

test('an error by the means of Fastify: its status, headers and message; the message of a 5xx is only logged', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options, routes)
  for (const [path, status, told] of [
    ['conflicts', 409, { title: 'Conflict', detail: 'It is there.' }],
    ['leaves', 499, { title: 'Client Error', detail: 'It left.' }],
    ['hides', 409, { title: 'Conflict' }],
    ['sends', 409, { title: 'Conflict', detail: 'It is there.' }],
    ['unavailable', 503, { title: 'Service Unavailable' }],
  ] as const) {
    const response = await app.inject(`/errors/${path}`)
    deepEqual([response.statusCode, response.headers['retry-after']], [status, '1'])
    deepEqual(response.json(), { type: 'about:blank', status, ...told })
  }
  const invalid = await app.inject('/errors/invalid')
  deepEqual(invalid.json().errors, [{ field: 'name', reason: 'is taken' }])
  const lines = await readLines(7)
  deepEqual(
    lines.filter(({ level }) => level === ERROR).map(({ err }) => (err as Error).message),
    ['secret'],
  )
})

for (const path of ['/breaks', '/breaks/as/a/stream']) {
  test(`a handler that fails amid its response (${path}): the connection is cut, and the app lives on`, async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { readLines, ...options } = createOptions()
    await using app = createApp(options, routes)
    const url = await app.listen(PLACE)
    let received = ''
    await rejects(async () => {
      const { body } = await fetch(url + path)
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk
    })
    doesNotMatch(received, /secret/)
    equal((await fetch(`${url}/teas`)).status, 200)
    const [_listening, ...lines] = await readLines(4)
    deepEqual(
      lines.map(({ level, msg, status }) => [level, msg, status]),
      [
        [ERROR, 'failed', undefined],
        [INFO, 'request completed', 200],
        [INFO, 'request completed', 200],
      ],
    )
    equal(lines[0]?.requestId, lines[1]?.requestId)
    equal(printed.mock.callCount(), 0)
  })
}

test('is alive but not ready while a check fails, and does not say which', async () => {
  const app = createApp(createOptions(), async (scope) => {
    scope.health.addCheck('database', () => Promise.reject(new Error('no')))
  })
  const response = await app.inject('/readyz')
  deepEqual([response.statusCode, response.payload], [503, '{"status":"fail"}'])
  equal((await app.inject('/livez')).statusCode, 200)
})

test('the hooks onClose run after the last response, newest first', async () => {
  const options = createOptions()
  const steps: string[] = []
  const closing = Promise.withResolvers<void>()
  const app = createApp(options, async (scope) => {
    scope.addHook('preClose', async () => closing.resolve())
    scope.addHook('onClose', async () => void steps.push('database'))
    scope.addHook('onClose', async () => void steps.push('queue'))
    scope.get('/slow', async () => {
      options.health.drain()
      void app.close()
      await closing.promise
      for (let turn = 0; turn < 10; turn++) await setImmediate() // a hook that does not wait would run now
      steps.push('response')
      return ''
    })
  })
  equal((await fetch(`${await app.listen(PLACE)}/slow`)).status, 200)
  await app.close()
  deepEqual(steps, ['response', 'queue', 'database'])
})
