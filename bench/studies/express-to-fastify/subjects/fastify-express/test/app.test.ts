import { deepEqual, doesNotMatch, equal, match, notEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import express, { type Router } from 'express'
import { BODY_LIMIT, PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createStatus as createApp } from './apps.ts'
import { serve } from './serve.ts'

/** What the app does not have: handlers that fail, each in its own way, and one that takes a body. */
function routes(router: Router): void {
  router.get('/throws', () => {
    throw new Error('secret')
  })
  router.get('/rejects', () => Promise.reject(new Error('secret')))
  router.get('/conflicts', () => {
    throw Object.assign(new Error('secret'), { status: 409 })
  })
  router.get('/breaks', (_request, response) => {
    response.write('half')
    throw new Error('secret')
  })
  router.post('/echo', express.raw({ limit: BODY_LIMIT, type: () => true }), (request, response) => {
    response.type(PLAIN_TEXT).send(request.body)
  })
}

test('responds with a problem to what it does not know', async () => {
  await using server = await serve(createApp(createOptions()))
  for (const [method, path, status] of [
    ['get', '/nowhere', 404],
    ['post', '/nowhere', 404],
    ['post', '/_/status', 404],
    ['get', '/%zz', 400],
  ] as const) {
    const response = await server.client[method](path)
    equal(response.status, status)
    equal(response.headers['content-type'], PROBLEM_JSON)
    match(response.text, new RegExp(`"status":${status}`))
  }
})

test('sends the security headers with every response', async () => {
  await using server = await serve(createApp({ ...createOptions(), routes }))
  for (const path of ['/_/status', '/nowhere', '/%zz', '/throws', '/livez']) {
    const { headers } = await server.client.get(path)
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(headers[name], value)
  }
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    await using server = await serve(createApp({ ...options, routes }))
    const response = await server.client.get(`/${way}`)
    equal(response.status, 500)
    equal(response.headers['content-type'], PROBLEM_JSON)
    equal(response.text, '{"type":"about:blank","title":"Internal Server Error","status":500}')
    const id = response.headers['x-request-id']
    const [failed, responded, ...others] = await readLines(2)
    equal(failed?.level, ERROR)
    equal(failed?.requestId, id)
    match(JSON.stringify(failed?.err), /secret.*app\.test\.ts/)
    equal(responded?.requestId, id)
    equal(responded?.status, 500)
    deepEqual(others, [])
  })
}

test('a handler that throws a status: the client is told, and nothing has failed', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  const response = await server.client.get('/conflicts')
  equal(response.status, 409)
  deepEqual(response.body, { type: 'about:blank', title: 'Conflict', status: 409 })
  const lines = await readLines(1)
  deepEqual(
    lines.map(({ level, status }) => [level, status]),
    [[INFO, 409]],
  )
})

test('a handler that fails amid its response: the connection is cut, and the app lives on', async (t) => {
  const printed = t.mock.method(console, 'error', () => {})
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  let received = ''
  await rejects(async () => {
    const { body } = await fetch(`${server.url}/breaks`)
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk
  })
  doesNotMatch(received, /secret/)
  equal((await fetch(`${server.url}/_/status`)).status, 200)
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

test('a body may have 65,536 bytes', async () => {
  await using server = await serve(createApp({ ...createOptions(), routes }))
  const largest = 'x'.repeat(BODY_LIMIT)
  const passed = await server.client.post('/echo').send(largest)
  equal(passed.status, 200)
  equal(passed.text.length, BODY_LIMIT)
  const refused = await server.client.post('/echo').send(`${largest}x`)
  equal(refused.status, 413)
  match(refused.text, /Content Too Large/)
})

test('a chunked body may not have more either', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  const largest = 'x'.repeat(BODY_LIMIT)
  const post = (body: string) => {
    const sent = server.client.post('/echo')
    sent.write(body)
    return sent
  }
  const passed = await post(largest)
  equal(passed.status, 200)
  equal(passed.text.length, BODY_LIMIT)
  const refused = await post(`${largest}x`)
  equal(refused.status, 413)
  match(refused.text, /Content Too Large/)
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ level, status }) => [level, status]),
    [
      [INFO, 200],
      [INFO, 413],
    ],
  )
})

test('keeps a good request id and replaces a bad one', async () => {
  await using server = await serve(createApp(createOptions()))
  const ask = async (id: string) => {
    const { headers } = await server.client.get('/_/status').set('x-request-id', id)
    return headers['x-request-id'] ?? ''
  }
  equal(await ask('Trace_1.2-3'), 'Trace_1.2-3')
  for (const bad of ['', 'two words', 'x'.repeat(65)]) {
    const id = await ask(bad)
    notEqual(id, bad)
    match(id, /^[A-Za-z0-9._-]{1,64}$/)
  }
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const { health, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, health, routes }))
  equal((await server.client.get('/readyz')).status, 200)
  health.drain()
  for (const [path, status] of [
    ['/readyz', 503],
    ['/livez', 200],
    ['/_/status', 200],
    ['/nowhere', 404],
    ['/%zz', 400],
    ['/throws', 500],
  ] as const) {
    const response = await server.client.get(path)
    equal(response.status, status)
    equal(response.headers.connection, 'close')
  }
})

test('logs one line per request, and none of a probe', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp(options))
  await server.client.get('/livez')
  await server.client.get('/readyz')
  await server.client.get('/_/status?a=b').set('x-request-id', 'first')
  await server.client.post('/nowhere').set('x-request-id', 'second')
  await server.client.get('/%zz').set('x-request-id', 'third')
  const lines = await readLines(3)
  deepEqual(
    lines.map(({ level, requestId, method, path, status, ms, client }) => [
      level,
      requestId,
      method,
      path,
      status,
      typeof ms,
      client,
    ]),
    [
      [INFO, 'first', 'GET', '/_/status', 200, 'number', '127.0.0.1'],
      [INFO, 'second', 'POST', '/nowhere', 404, 'number', '127.0.0.1'],
      [INFO, 'third', 'GET', '/%zz', 400, 'number', '127.0.0.1'],
    ],
  )
})

test('believes X-Forwarded-For only as far as it trusts who wrote it', async () => {
  for (const [trusted, forwardedFor, client] of [
    ['', '203.0.113.7', '127.0.0.1'],
    ['10.0.0.0/8', '203.0.113.7', '127.0.0.1'],
    ['loopback', '203.0.113.7', '203.0.113.7'],
    ['loopback', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['loopback,10.0.0.0/8', '198.51.100.1, 203.0.113.7, 10.1.2.3', '203.0.113.7'],
  ] as const) {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: trusted })
    await using server = await serve(createApp(options))
    await server.client.get('/_/status').set('x-forwarded-for', forwardedFor)
    const [line] = await readLines(1)
    equal(line?.client, client)
  }
})
