import { deepEqual, doesNotMatch, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { BODY_LIMIT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createApp } from '../src/app.ts'
import { createOptions, ERROR, INFO } from './options.ts'
import { serve } from './serve.ts'

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  const Tea = Type.Object({ name: Type.String({ minLength: 1 }), grams: Type.Integer({ minimum: 1 }) })
  app.get('/teas', async () => [])
  app.get('/teas/:slug', async (request) => request.params)
  app.post('/teas', { schema: { body: Tea, response: { 201: Tea } } }, async (request, reply) => {
    reply.code(201).header('set-cookie', 'last=tea; HttpOnly')
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
  app.get('/hangs', () => new Promise(() => {}))
  app.addContentTypeParser(
    'text/plain',
    { parseAs: 'string' },
    async (_request: unknown, body: unknown) => body,
  )
  app.post('/echo', async (request, reply) => reply.send(request.body))
}

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  const app = createApp(createOptions(), routes)
  const added = await app.inject({ method: 'POST', url: '/teas', payload: { name: 'Assam', grams: 100 } })
  deepEqual([added.statusCode, added.json()], [201, { name: 'Assam', grams: 100 }])
  equal(added.headers['set-cookie'], 'last=tea; HttpOnly')
  deepEqual((await app.inject('/teas')).json(), [])
})

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

test('what has no route is a problem', async () => {
  const app = createApp(createOptions(), routes)
  for (const [method, url] of [
    ['GET', '/nowhere'],
    ['DELETE', '/teas'],
  ] as const) {
    const response = await app.inject({ method, url })
    equal(response.statusCode, 404)
    match(String(response.headers['content-type']), /^application\/problem\+json/)
    deepEqual(response.json(), { type: 'about:blank', title: 'Not Found', status: 404 })
  }
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
    await using server = await serve(createApp(options, routes))
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
    equal(printed.mock.callCount(), 0)
  })
}

test('a handler that never responds: 503 with all headers when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createApp(options, routes))
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
  const app = createApp(createOptions(), routes)
  const largest = 'x'.repeat(BODY_LIMIT)
  for (const encode of [(text: string) => text, (text: string) => Readable.from([Buffer.from(text)])]) {
    const post = (text: string) =>
      app.inject({
        method: 'POST',
        url: '/echo',
        headers: { 'content-type': 'text/plain' },
        payload: encode(text),
      })
    const passed = await post(largest)
    equal(passed.statusCode, 200)
    equal(passed.payload.length, BODY_LIMIT)
    const refused = await post(`${largest}x`)
    equal(refused.statusCode, 413)
    match(refused.payload, /Content Too Large/)
  }
})

test('keeps a good request id and replaces a bad one', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes))
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
  const { readLines: _, ...options } = createOptions()
  await using server = await serve(
    createApp(options, async (app) => {
      app.health.addCheck('database', () => Promise.reject(new Error('no')))
    }),
  )
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('the hooks onClose run after the last response, newest first', async () => {
  const { readLines: _, ...options } = createOptions()
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
  const server = await serve(app)
  equal((await fetch(`${server.url}/slow`)).status, 200)
  await app.close()
  deepEqual(steps, ['response', 'queue', 'database'])
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const { health, readLines: _, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, health }, routes))
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
  const app = createApp(options, routes)
  await app.inject('/livez')
  await app.inject('/readyz?from=here')
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await app.inject({ url: '/teas/a?b=c', headers: { 'x-request-id': 'first', traceparent } })
  await app.inject({ method: 'POST', url: '/nowhere', headers: { 'x-request-id': 'second' } })
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

test('what the parser refuses is a problem, and the connection closes', { timeout: 120_000 }, async () => {
  await using server = await serve(createApp(createOptions(), routes))
  /** Sends bytes and reads until the connection ends. */
  const send = async (bytes: string) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(bytes)
    return text(socket)
  }
  for (const [bytes, status] of [
    ['not HTTP\r\n\r\n', 400],
    [`GET /teas HTTP/1.1\r\nhost: a\r\na: ${'a'.repeat(16_384)}\r\n\r\n`, 431],
    [
      `POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\na\r\n`,
      413,
    ],
  ] as const) {
    const [head = '', body = ''] = (await send(bytes)).split('\r\n\r\n')
    match(head, new RegExp(`^HTTP/1.1 ${status} .*\r\n`))
    match(head, /\r\ncontent-type: application\/problem\+json\r\n[\s\S]*\r\nconnection: close$/)
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      ok(head.includes(`\r\n${name}: ${value}\r\n`), name)
    equal(JSON.parse(body).status, status)
  }
})

test('garbage behind a response that has begun cuts it off', { timeout: 120_000 }, async () => {
  await using server = await serve(
    createApp(createOptions(), async (app) => {
      app.get('/', (_request, reply) => {
        reply.raw.write('half')
        return reply.hijack()
      })
    }),
  )
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  socket.once('data', () => socket.write('garbage\r\n\r\n'))
  match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[\s\S]*half\r\n$/)
})
