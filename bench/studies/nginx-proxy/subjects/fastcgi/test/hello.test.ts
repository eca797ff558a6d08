import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ALLOW, BODY_LIMIT, JSON_TEXT, PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import type { Route } from '../src/base.ts'
import { createApp } from '../src/hello.ts'
import { ask } from './ask.ts'
import { createOptions, ERROR, INFO } from './options.ts'

/** What the app does not have: handlers that fail, each in its own way, and one that takes a body. */
const routes: Route[] = [
  {
    method: 'GET',
    path: '/throws',
    handle() {
      throw new Error('secret')
    },
  },
  {
    method: 'GET',
    path: '/rejects',
    async handle() {
      await Promise.reject(new Error('secret'))
    },
  },
  {
    method: 'GET',
    path: '/conflicts',
    handle() {
      throw new HttpProblem(409)
    },
  },
  {
    method: 'GET',
    path: '/sends-and-throws',
    handle(exchange) {
      exchange.send(200, PLAIN_TEXT, 'sent')
      throw new Error('secret')
    },
  },
  {
    method: 'POST',
    path: '/echo',
    handle: (exchange) => exchange.send(200, PLAIN_TEXT, exchange.request.body),
  },
]

test('greets in text and in JSON', async () => {
  const app = createApp(createOptions())
  const text = await ask(app, '/')
  equal(text.status, 200)
  equal(text.headers['content-type'], PLAIN_TEXT)
  equal(text.headers['content-length'], '12')
  equal(String(text.body), 'Hello World!')
  const json = await ask(app, '/json?a=b')
  equal(json.headers['content-type'], JSON_TEXT)
  deepEqual(JSON.parse(String(json.body)), { hello: 'world' })
})

test('greets by name', async () => {
  const app = createApp(createOptions())
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zo\u00eb'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
  ]) {
    const { headers, body } = await ask(app, `/hello/${name}`)
    equal(String(body), `Hello, ${decoded}!`)
    equal(headers['content-length'], String(body.length))
  }
})

test('responds with a problem to what it does not know', async () => {
  const app = createApp(createOptions())
  for (const [method, url, status] of [
    ['GET', '/nowhere', 404],
    ['GET', '/hello/', 404],
    ['GET', '/hello/a/b', 404],
    ['POST', '/json', 405],
    ['GET', '/hello/%zz', 400],
  ] as const) {
    const { status: responded, headers, body } = await ask(app, url, { method })
    equal(responded, status)
    equal(headers['content-type'], PROBLEM_JSON)
    equal(headers.allow, status === 405 ? ALLOW : undefined)
    match(String(body), new RegExp(`"status":${status}`))
  }
  const options = await ask(app, '/hello/Ada', { method: 'OPTIONS' })
  deepEqual([options.status, options.headers.allow, options.body.length], [204, ALLOW, 0])
})

test('refuses what the guard or the responder refuses, in that order', async () => {
  const app = createApp(createOptions())
  const tooLarge = { CONTENT_LENGTH: String(BODY_LIMIT + 1) }
  for (const [url, asked, status] of [
    ['/', { params: { HTTP_HOST: 'a, b' } }, 400],
    ['/', { params: tooLarge, refusal: 413 }, 413],
    ['/', { refusal: 413 }, 413],
    ['/%zz', { refusal: 413 }, 400],
    ['', { refusal: 400 }, 400],
    ['', { refusal: 431 }, 431],
  ] as const) {
    const { status: responded, headers } = await ask(app, url, asked)
    equal(responded, status)
    equal(headers['content-type'], PROBLEM_JSON)
  }
})

test('sends the security headers with every response', async () => {
  const app = createApp({ ...createOptions(), routes })
  for (const [method, url] of [
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['GET', '/hello/%zz'],
    ['GET', '/throws'],
    ['GET', '/livez'],
    ['OPTIONS', '/'],
  ] as const) {
    const { headers } = await ask(app, url, { method })
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(headers[name], value)
  }
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    const response = await ask(createApp({ ...options, routes }), `/${way}`)
    equal(response.status, 500)
    equal(String(response.body), '{"type":"about:blank","title":"Internal Server Error","status":500}')
    const id = response.headers['x-request-id']
    const [failed, responded, ...others] = await readLines(2)
    equal(failed?.level, ERROR)
    equal(failed?.requestId, id)
    match(JSON.stringify(failed?.err), /secret.*hello\.test\.ts/)
    equal(responded?.requestId, id)
    equal(responded?.status, 500)
    deepEqual(others, [])
  })
}

test('a handler that throws a status: the client is told, and nothing has failed', async () => {
  const { readLines, ...options } = createOptions()
  const response = await ask(createApp({ ...options, routes }), '/conflicts')
  deepEqual(JSON.parse(String(response.body)), { type: 'about:blank', title: 'Conflict', status: 409 })
  const lines = await readLines(1)
  deepEqual(
    lines.map(({ level, status }) => [level, status]),
    [[INFO, 409]],
  )
})

test('a handler that fails after its response: the response stands, the failure is logged', async () => {
  const { readLines, ...options } = createOptions()
  const response = await ask(createApp({ ...options, routes }), '/sends-and-throws')
  deepEqual([response.status, String(response.body)], [200, 'sent'])
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ level, msg, status }) => [level, msg, status]),
    [
      [INFO, 'request completed', 200],
      [ERROR, 'failed', undefined],
    ],
  )
})

test('a handler gets the body', async () => {
  const app = createApp({ ...createOptions(), routes })
  const { body } = await ask(app, '/echo', { method: 'POST', body: 'said' })
  equal(String(body), 'said')
})

test('keeps a good request id and replaces a bad one', async () => {
  const app = createApp(createOptions())
  const send = async (id: string) => {
    const { headers } = await ask(app, '/', { params: { HTTP_X_REQUEST_ID: id } })
    return headers['x-request-id'] ?? ''
  }
  equal(await send('Trace_1.2-3'), 'Trace_1.2-3')
  for (const bad of ['', 'two words', 'one, two', 'x'.repeat(65)]) {
    const id = await send(bad)
    notEqual(id, bad)
    match(id, /^[A-Za-z0-9._-]{1,64}$/)
  }
})

test('while draining it is alive but not ready', async () => {
  const { health, ...options } = createOptions()
  const app = createApp({ ...options, health })
  equal((await ask(app, '/readyz')).status, 200)
  health.drain()
  equal((await ask(app, '/readyz')).status, 503)
  equal((await ask(app, '/livez')).status, 200)
})

test('logs one line per request, and none of a probe', async () => {
  const { readLines, ...options } = createOptions()
  const app = createApp(options)
  await ask(app, '/livez')
  await ask(app, '/readyz')
  await ask(app, '/json?a=b', { params: { HTTP_X_REQUEST_ID: 'first' } })
  await ask(app, '/nowhere', { method: 'POST', params: { HTTP_X_REQUEST_ID: 'second' } })
  await ask(app, '/hello/%zz', { params: { HTTP_X_REQUEST_ID: 'third' } })
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
      [INFO, 'first', 'GET', '/json', 200, 'number', '127.0.0.1'],
      [INFO, 'second', 'POST', '/nowhere', 404, 'number', '127.0.0.1'],
      [INFO, 'third', 'GET', '/hello/%zz', 400, 'number', '127.0.0.1'],
    ],
  )
})

test('believes X-Forwarded-For only as far as it trusts who wrote it', async () => {
  for (const [trusted, forwardedFor, client] of [
    ['', '203.0.113.7', '127.0.0.1'],
    ['10.0.0.0/8', '203.0.113.7', '127.0.0.1'],
    ['loopback', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ] as const) {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: trusted })
    await ask(createApp(options), '/', { params: { HTTP_X_FORWARDED_FOR: forwardedFor } })
    const [line] = await readLines(1)
    equal(line?.client, client)
  }
})
