import { deepEqual, doesNotMatch, equal, match, notEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { BODY_LIMIT, JSON_TEXT, PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import type { App } from '../src/base.ts'
import { createApp } from '../src/hello.ts'
import { createOptions, ERROR, INFO } from './options.ts'
import { serve } from './serve.ts'

/** What the app does not have: handlers that fail, each in its own way, and one that takes a body. */
function routes(app: App): void {
  app.get('/throws', () => {
    throw new Error('secret')
  })
  app.get('/rejects', () => Promise.reject(new Error('secret')))
  app.get('/conflicts', () => {
    throw new HTTPException(409, { message: 'secret' })
  })
  app.get('/breaks', (c) => c.body(ReadableStream.from(breakAmid())))
  app.get('/hangs', () => new Promise(() => {}))
  app.post('/echo', bodyLimit({ maxSize: BODY_LIMIT, onError: refuseBody }), async (c) =>
    c.body(await c.req.arrayBuffer(), 200, { 'content-type': PLAIN_TEXT }),
  )
}

async function* breakAmid() {
  yield new TextEncoder().encode('half')
  throw new Error('secret')
}

function refuseBody(): never {
  throw new HttpProblem(413)
}

test('greets in text and in JSON', async () => {
  await using server = await serve(createApp(createOptions()))
  const text = await fetch(`${server.url}/`)
  equal(text.status, 200)
  equal(text.headers.get('content-type'), PLAIN_TEXT)
  equal(await text.text(), 'Hello World!')
  const json = await fetch(`${server.url}/json`)
  equal(json.headers.get('content-type'), JSON_TEXT)
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  await using server = await serve(createApp(createOptions()))
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
  ]) {
    const answer = await fetch(`${server.url}/hello/${name}`)
    equal(await answer.text(), `Hello, ${decoded}!`)
  }
})

test('answers a problem to what it does not know', async () => {
  await using server = await serve(createApp(createOptions()))
  for (const [method, path, status] of [
    ['GET', '/nowhere', 404],
    ['GET', '/hello/', 404],
    ['POST', '/json', 405],
    ['GET', '/hello/%zz', 400],
  ] as const) {
    const answer = await fetch(server.url + path, { method })
    equal(answer.status, status)
    equal(answer.headers.get('content-type'), PROBLEM_JSON)
    equal(answer.headers.get('allow'), status === 405 ? 'GET, HEAD, OPTIONS' : null)
    match(await answer.text(), new RegExp(`"status":${status}`))
  }
})

test('sends the security headers with every answer', async () => {
  await using server = await serve(createApp({ ...createOptions(), routes }))
  for (const path of ['/', '/nowhere', '/hello/%zz', '/throws', '/livez']) {
    const { headers } = await fetch(server.url + path)
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(headers.get(name), value)
  }
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    await using server = await serve(createApp({ ...options, routes }))
    const answer = await fetch(`${server.url}/${way}`)
    equal(answer.status, 500)
    equal(answer.headers.get('content-type'), PROBLEM_JSON)
    equal(await answer.text(), '{"type":"about:blank","title":"Internal Server Error","status":500}')
    const id = answer.headers.get('x-request-id')
    const [failed, answered, ...others] = await readLines(2)
    equal(failed?.level, ERROR)
    equal(failed?.id, id)
    match(JSON.stringify(failed?.err), /secret.*\.test\.ts/)
    equal(answered?.id, id)
    equal(answered?.status, 500)
    deepEqual(others, [])
  })
}

test('a handler that throws a status: the client is told, and nothing has failed', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  const answer = await fetch(`${server.url}/conflicts`)
  equal(answer.status, 409)
  deepEqual(await answer.json(), { type: 'about:blank', title: 'Conflict', status: 409 })
  const lines = await readLines(1)
  deepEqual(
    lines.map(({ level, status }) => [level, status]),
    [[INFO, 409]],
  )
})

test('a handler that fails amid its answer: the connection is cut, and the app lives on', async (t) => {
  const printed = t.mock.method(console, 'error', () => {})
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  let received = ''
  await rejects(async () => {
    const { body } = await fetch(`${server.url}/breaks`)
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk
  })
  doesNotMatch(received, /secret/)
  equal((await fetch(`${server.url}/`)).status, 200)
  const lines = await readLines(3)
  deepEqual(
    lines.map(({ level, msg, status }) => [level, msg, status]),
    [
      [ERROR, 'failed', undefined],
      [INFO, 'answered', 200],
      [INFO, 'answered', 200],
    ],
  )
  equal(lines[0]?.id, lines[1]?.id)
  // The adapter prints it besides.
  equal(printed.mock.callCount(), 1)
})

test('a handler that never answers: 503 when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createApp({ ...options, routes }))
  const answer = await fetch(`${server.url}/hangs`)
  equal(answer.status, 503)
  equal(answer.headers.get('content-type'), PROBLEM_JSON)
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ level, msg, status }) => [level, msg, status]),
    [
      [ERROR, 'failed', undefined],
      [INFO, 'answered', 503],
    ],
  )
  equal(lines[0]?.id, answer.headers.get('x-request-id'))
})

test('a body may have 65,536 bytes', async () => {
  await using server = await serve(createApp({ ...createOptions(), routes }))
  const largest = 'x'.repeat(BODY_LIMIT)
  const passed = await fetch(`${server.url}/echo`, { method: 'POST', body: largest })
  equal(passed.status, 200)
  equal((await passed.text()).length, BODY_LIMIT)
  const refused = await fetch(`${server.url}/echo`, { method: 'POST', body: `${largest}x` })
  equal(refused.status, 413)
  match(await refused.text(), /Content Too Large/)
})

test('a chunked body may not have more either', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, routes }))
  const largest = 'x'.repeat(BODY_LIMIT)
  const post = (body: string) =>
    fetch(`${server.url}/echo`, { method: 'POST', body: new Blob([body]).stream(), duplex: 'half' })
  const passed = await post(largest)
  equal(passed.status, 200)
  equal((await passed.text()).length, BODY_LIMIT)
  const refused = await post(`${largest}x`)
  equal(refused.status, 413)
  match(await refused.text(), /Content Too Large/)
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
    const { headers } = await fetch(server.url, { headers: { 'x-request-id': id } })
    return headers.get('x-request-id') ?? ''
  }
  equal(await ask('Trace_1.2-3'), 'Trace_1.2-3')
  for (const bad of ['', 'two words', 'x'.repeat(65)]) {
    const id = await ask(bad)
    notEqual(id, bad)
    match(id, /^[A-Za-z0-9._-]{1,64}$/)
  }
})

test('while draining it is alive but not ready, and every answer ends its connection', async () => {
  const { health, ...options } = createOptions()
  await using server = await serve(createApp({ ...options, health, routes }))
  equal((await fetch(`${server.url}/readyz`)).status, 200)
  health.drain()
  for (const [path, status] of [
    ['/readyz', 503],
    ['/livez', 200],
    ['/', 200],
    ['/nowhere', 404],
    ['/hello/%zz', 400],
    ['/throws', 500],
  ] as const) {
    const answer = await fetch(server.url + path)
    equal(answer.status, status)
    equal(answer.headers.get('connection'), 'close')
  }
})

test('logs one line per request, and none of a probe', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp(options))
  await fetch(`${server.url}/livez`)
  await fetch(`${server.url}/readyz`)
  await fetch(`${server.url}/json?a=b`, { headers: { 'x-request-id': 'first' } })
  await fetch(`${server.url}/nowhere`, { method: 'POST', headers: { 'x-request-id': 'second' } })
  await fetch(`${server.url}/hello/%zz`, { headers: { 'x-request-id': 'third' } })
  const lines = await readLines(3)
  deepEqual(
    lines.map(({ level, id, method, url, status, ms, client }) => [
      level,
      id,
      method,
      url,
      status,
      typeof ms,
      client,
    ]),
    [
      [INFO, 'first', 'GET', '/json?a=b', 200, 'number', '127.0.0.1'],
      [INFO, 'second', 'POST', '/nowhere', 404, 'number', '127.0.0.1'],
      [INFO, 'third', 'GET', '/hello/%zz', 400, 'number', '127.0.0.1'],
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
    await fetch(server.url, { headers: { 'x-forwarded-for': forwardedFor } })
    const [line] = await readLines(1)
    equal(line?.client, client)
  }
})
