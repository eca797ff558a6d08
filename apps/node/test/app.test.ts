import { deepEqual, doesNotMatch, equal, match, notEqual, rejects } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { readBody } from '#shared/http/body.ts'
import { BODY_LIMIT, PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createOptions, ERROR, INFO } from '#shared/process/testing.ts'
import { route } from '../src/router.ts'
import { serve } from './serve.ts'

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
  route('GET', '/teas/:slug', (context) => context.json(context.params)),
  route('POST', '/teas', async (context) => {
    const tea = readTea(await context.readJson())
    context.response.setHeader('set-cookie', 'last=tea; HttpOnly')
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
  route('GET', '/hangs', () => new Promise(() => {})),
  route('POST', '/echo', async (context) => {
    context.send(200, PLAIN_TEXT, await readBody(context.request))
  }),
]

async function* breakAmid() {
  yield 'half'
  throw new Error('secret')
}

const post = (url: string, body: string, type = 'application/json') =>
  fetch(url, { method: 'POST', headers: { 'content-type': type }, body })

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  await using server = await serve(routes)
  const added = await post(`${server.url}/teas`, '{"name":"Assam","grams":100}')
  deepEqual([added.status, await added.json()], [201, { name: 'Assam', grams: 100 }])
  equal(added.headers.get('set-cookie'), 'last=tea; HttpOnly')
  deepEqual(await (await fetch(`${server.url}/teas`)).json(), [])
})

test('a body that is not valid is 400, and the problem names the field', async () => {
  await using server = await serve(routes)
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
  await using server = await serve(routes)
  for (const [path, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/livez', 200],
    ['/teas/%zz', 400],
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

test('a path without a route is 404, and another method is 405 with the registered ones', async () => {
  await using server = await serve(routes)
  for (const [method, path, status, allow] of [
    ['GET', '/nowhere', 404, null],
    ['DELETE', '/teas', 405, 'GET, HEAD, POST'],
    ['GET', '/echo', 405, 'POST'],
    ['HEAD', '/echo', 405, 'POST'],
    ['PUT', '/teas/assam', 405, 'GET, HEAD'],
  ] as const) {
    const response = await fetch(server.url + path, { method })
    equal(response.status, status, `${method} ${path}`)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    equal(response.headers.get('allow'), allow)
    match(method === 'HEAD' ? `"status":${status}` : await response.text(), new RegExp(`"status":${status}`))
  }
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    await using server = await serve(routes, options)
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
  await using server = await serve(routes, options)
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
    await using server = await serve(routes, options)
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

test('a handler that never responds: 503 with all headers when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(routes, options)
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
  await using server = await serve(routes)
  const largest = 'x'.repeat(BODY_LIMIT)
  for (const encode of [(text: string) => text, (text: string) => new Blob([text]).stream()]) {
    const echo = (text: string) =>
      fetch(`${server.url}/echo`, { method: 'POST', body: encode(text), duplex: 'half' })
    const passed = await echo(largest)
    equal(passed.status, 200)
    equal((await passed.text()).length, BODY_LIMIT)
    const refused = await echo(`${largest}x`)
    equal(refused.status, 413)
    match(await refused.text(), /Content Too Large/)
  }
})

test('keeps a good request id and replaces a bad one', async () => {
  await using server = await serve(routes)
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
  options.health.addCheck('database', () => Promise.reject(new Error('no')))
  await using server = await serve(routes, options)
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const { health, readLines: _, ...options } = createOptions()
  await using server = await serve(routes, { ...options, health })
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
  await using server = await serve(routes, options)
  await fetch(`${server.url}/livez`)
  await fetch(`${server.url}/readyz?from=here`)
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await fetch(`${server.url}/teas/a?b=c`, { headers: { 'x-request-id': 'first', traceparent } })
  await fetch(`${server.url}/nowhere`, { method: 'POST', headers: { 'x-request-id': 'second' } })
  const lines = await readLines(2)
  const common = { level: INFO, ms: 'number', client: '127.0.0.1', msg: 'request completed' }
  deepEqual(
    lines.map(({ ms, time: _time, pid: _pid, hostname: _hostname, ...line }) => ({ ...line, ms: typeof ms })),
    [
      {
        ...common,
        requestId: 'first',
        method: 'GET',
        path: '/teas/a',
        route: '/teas/:slug',
        status: 200,
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      },
      { ...common, requestId: 'second', method: 'POST', path: '/nowhere', status: 404 },
    ],
  )
})

test('server-sent events outlive the handler timeout while they send something, and end when draining', async () => {
  const { health, readLines: _, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  let comments = 0
  const events = route('GET', '/events', ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => {
      comments += 1
      if (comments === 20) health.drain()
      else response.write(': \n')
    }, 20)
    health.signal.addEventListener('abort', () => response.end('data: bye\n\n'))
    response.once('close', () => clearInterval(timer))
  })
  await using server = await serve([events], { ...options, health })
  const response = await fetch(`${server.url}/events`)
  match(await response.text(), /data: bye\n\n$/)
  equal(comments, 20)
})
