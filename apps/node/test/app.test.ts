import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/http-problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { serve } from '#shared/http/testing.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'

/** A body that was validated by hand. */
function readTea(body: unknown): { name: string; grams: number } {
  const { name, grams } = body as { name?: unknown; grams?: unknown }
  const errors = []
  if (typeof name !== 'string' || name === '') errors.push({ field: 'name', reason: 'must not be empty' })
  if (typeof grams !== 'number' || grams < 1) errors.push({ field: 'grams', reason: 'must be >= 1' })
  if (errors.length > 0) throw new HttpProblem(400, { errors })
  return { name: String(name), grams: Number(grams) }
}

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = [
  route('GET', '/teas', (context) => context.json([])),
  route('POST', '/teas', async (context) => {
    const tea = readTea(await context.readJson())
    context.json(tea, 201)
  }),
  route('GET', '/old', ({ response }) => {
    response.writeHead(302, { location: '/teas' }).end()
  }),
  route('GET', '/embeddable', (context) => {
    context.response.setHeader('cross-origin-resource-policy', 'cross-origin')
    context.text('from anywhere')
  }),
  route('GET', '/throws', () => {
    throw new Error('secret')
  }),
  route('GET', '/rejects', async () => {
    throw new Error('secret')
  }),
  route('GET', '/errors/conflicts', () => {
    throw new HttpProblem(409, { detail: 'It is there.', headers: { 'retry-after': '1' } })
  }),
  route('GET', '/errors/leaves', () => {
    throw new HttpProblem(499, { detail: 'It left.', headers: { 'retry-after': '1' } })
  }),
  route('GET', '/errors/plain', () => {
    throw Object.assign(new Error('secret'), { status: 409, headers: { 'retry-after': '1' } })
  }),
  route('GET', '/errors/unavailable', () => {
    throw Object.assign(new Error('secret'), { status: 503, headers: { 'retry-after': '1' } })
  }),
  route('GET', '/breaks', ({ response }) => {
    response.write('half')
    throw new Error('secret')
  }),
  route('GET', '/breaks/as/a/stream', ({ response }) => pipeline(Readable.from(breakAmid()), response)),
]

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

const post = (url: string, body: string, type = 'application/json') =>
  fetch(url, { method: 'POST', headers: { 'content-type': type }, body })

test('a body that is not valid is 400, and the problem names the field', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  for (const [body, field] of [
    ['{"name":"Assam","grams":0}', 'grams'],
    ['{"grams":1}', 'name'],
  ] as const) {
    const response = await post(`${server.url}/teas`, body)
    equal(response.status, 400)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    const { errors, ...problem } = (await response.json()) as { errors: { field: string }[] }
    deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
    deepEqual(
      errors.map((error) => error.field),
      [field],
    )
  }
  const broken = await post(`${server.url}/teas`, '{')
  deepEqual(await broken.json(), { type: 'about:blank', title: 'Bad Request', status: 400 })
  equal((await post(`${server.url}/teas`, 'name=Assam', 'application/x-www-form-urlencoded')).status, 415)
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  for (const [path, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/livez', 200],
  ] as const) {
    const init: RequestInit = { headers: { 'x-request-id': 'r-1' }, redirect: 'manual' }
    const response = await fetch(server.url + path, init)
    equal(response.status, status)
    equal(response.headers.get('x-request-id'), 'r-1')
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      equal(response.headers.get(name), value, `${path} ${name}`)
  }
  const { headers } = await fetch(`${server.url}/embeddable`)
  equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
  equal(headers.get('x-content-type-options'), 'nosniff')
})

const OWN = { 'Referrer-Policy': 'origin', 'X-Request-Id': 'other', 'Set-Cookie': ['a=1', 'b=2'] }

const HEADS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  'the first write': (response) => response.setHeaders(new Map(Object.entries(OWN))).write(' '),
  'an object': (response) => response.writeHead(200, OWN),
  'a message and an object': (response) => response.writeHead(200, 'OK', OWN),
  'an array': (response) => response.writeHead(200, Object.entries(OWN).flat()),
  'setHeader and an array': (response) =>
    response
      .setHeader('referrer-policy', 'unsafe-url')
      .writeHead(200, ['Referrer-Policy', 'origin', 'set-cookie', 'a=1', 'set-cookie', 'b=2']),
}

for (const [form, writeHead] of Object.entries(HEADS)) {
  test(`a head by ${form} has every header once, and the id of the request`, async () => {
    const options = createOptions()
    const app = createApp(options, [
      route('GET', '/', ({ response }) => {
        writeHead(response)
        response.end()
      }),
    ])
    await using server = await serve(app, options)
    const { headers } = await fetch(server.url, { headers: { 'x-request-id': 'r-1' } })
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'referrer-policy': 'origin' }))
      equal(headers.get(name), value, name) // one that was sent twice would be "a, a"
    equal(headers.get('x-request-id'), 'r-1')
    deepEqual(headers.getSetCookie(), ['a=1', 'b=2'])
  })
}

test('a path without a route is 404, and another method is 405 with the registered ones', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, routes), options)
  for (const [method, path, status, allow] of [
    ['GET', '/nowhere', 404, null],
    ['DELETE', '/teas', 405, 'GET, HEAD, POST'],
    ['PUT', '/throws', 405, 'GET, HEAD'],
  ] as const) {
    const response = await fetch(server.url + path, { method })
    equal(response.status, status, `${method} ${path}`)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    equal(response.headers.get('allow'), allow)
  }
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    await using server = await serve(createApp(options, routes), options)
    const response = await fetch(`${server.url}/${way}`)
    equal(response.status, 500)
    deepEqual(await response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const requestId = response.headers.get('x-request-id')
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, requestId])
    match(JSON.stringify(failed?.err), /secret.*\.test\.ts/)
    deepEqual([completed?.requestId, completed?.status], [requestId, 500])
    deepEqual(others, [])
  })
}

test('an error by the means of this app: its status, headers and message; the message of a 5xx is only logged', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp(options, routes), options)
  for (const [path, status, told] of [
    ['conflicts', 409, { title: 'Conflict', detail: 'It is there.' }],
    ['leaves', 499, { title: 'Client Error', detail: 'It left.' }],
    ['plain', 409, { title: 'Conflict' }],
    ['unavailable', 503, { title: 'Service Unavailable' }],
  ] as const) {
    const response = await fetch(`${server.url}/errors/${path}`)
    deepEqual([response.status, response.headers.get('retry-after')], [status, '1'])
    deepEqual(await response.json(), { type: 'about:blank', status, ...told })
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
    // A failed pipeline closes the response before it rejects, so the order of the first two differs.
    deepEqual(lines.map(({ level, msg, status }) => [level, msg, status]).sort(), [
      [INFO, 'request completed', 200],
      [INFO, 'request completed', 200],
      [ERROR, 'failed', undefined],
    ])
    equal(lines[0]?.requestId, lines[1]?.requestId)
    equal(printed.mock.callCount(), 0)
  })
}

test('is alive but not ready while a check fails, and does not say which', async () => {
  const options = createOptions()
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  await using server = await serve(createApp(options, routes), options)
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('server-sent events outlive the handler timeout while they send something, and end when draining', async () => {
  const options = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  let comments = 0
  const events = route('GET', '/events', ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => {
      comments += 1
      if (comments === 20) options.health.drain()
      else response.write(': \n')
    }, 20)
    options.health.signal.addEventListener('abort', () => response.end('data: bye\n\n'))
    response.once('close', () => clearInterval(timer))
  })
  await using server = await serve(createApp(options, [events]), options)
  const response = await fetch(`${server.url}/events`)
  match(await response.text(), /data: bye\n\n$/)
  equal(comments, 20)
})
