import { test } from 'bun:test'
import { deepEqual, equal, match, notEqual, rejects, throws } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BunRequest, sleep } from 'bun'
import { z } from 'zod'
import { BODY_LIMIT, PROBLEM_JSON } from '#shared/http/contract.ts'
import type { Health } from '#shared/http/health.ts'
import { type FieldError, HttpProblem, type Problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'
import { createApp } from '../src/app.ts'
import { idOf } from '../src/plugins/request-id.ts'
import type { Routes } from '../src/wrap-routes.ts'
import { createOptions, ERROR, INFO } from './options.ts'
import { serve } from './serve.ts'

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

/** Routes that a reader adds, and routes that fail, each in its own way. */
const routes = {
  '/teas': {
    GET: () => Response.json([]),
    POST: async (request: BunRequest<'/teas'>) => {
      const tea = Tea.parse(await request.json())
      request.cookies.set('last', 'tea', { httpOnly: true })
      return Response.json(tea, { status: 201 })
    },
  },
  '/teas/:slug': (request: BunRequest<'/teas/:slug'>) => Response.json(request.params),
  '/form': {
    POST: async (request) => {
      const { name } = Tea.pick({ name: true }).parse(Object.fromEntries(await request.formData()))
      return Response.redirect(`/teas/${name}`, 303)
    },
  },
  '/old': Response.redirect('/teas'),
  '/static': new Response('static'),
  '/file': Bun.file(`${import.meta.dir}/serve.ts`),
  '/gone': Bun.file(`${import.meta.dir}/no-such-file`),
  '/embeddable': new Response('from anywhere', {
    headers: { 'cross-origin-resource-policy': 'cross-origin' },
  }),
  '/throws': () => {
    throw new Error('secret')
  },
  '/throws/text': () => {
    throw 'secret'
  },
  '/rejects': async () => {
    throw new Error('secret')
  },
  '/conflicts': () => {
    throw new HttpProblem(409)
  },
  '/hangs': () => new Promise<Response>(() => {}),
  '/echo': { POST: async (request) => new Response(await request.text()) },
} satisfies Routes

const post = (body: string | ReadableStream): RequestInit => ({ method: 'POST', body })

function assertHeaders(response: Response, label: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    equal(response.headers.get(name), value, `${label} ${name}`)
}

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  const added = await fetch(`${server.url}/teas`, post(JSON.stringify({ name: 'Assam', grams: 100 })))
  equal(added.status, 201)
  deepEqual(await added.json(), { name: 'Assam', grams: 100 })
  match(added.headers.get('set-cookie') ?? '', /^last=tea; .*HttpOnly/)
  assertHeaders(added, '/teas')
  deepEqual(await (await fetch(`${server.url}/teas`)).json(), [])
  const form = await fetch(`${server.url}/form`, {
    method: 'POST',
    body: new URLSearchParams({ name: 'Assam' }),
    redirect: 'manual',
  })
  deepEqual([form.status, form.headers.get('location')], [303, '/teas/Assam'])
})

test('a body that is not valid is 400, and the problem names the field', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  for (const [payload, field] of [
    [{ name: 'Assam', grams: 0 }, 'grams'],
    [{ grams: 1 }, 'name'],
  ] as const) {
    const response = await fetch(`${server.url}/teas`, post(JSON.stringify(payload)))
    equal(response.status, 400)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    const { errors, ...problem } = (await response.json()) as Problem & { errors: FieldError[] }
    deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
    equal(errors[0]?.field, field)
    match(errors[0]?.reason ?? '', /\w+ \w+/)
  }
  for (const [path, body] of [
    ['/teas', '{'],
    ['/form', 'no form'],
  ] as const) {
    const broken = await fetch(server.url + path, post(body))
    deepEqual(await broken.json(), { type: 'about:blank', title: 'Bad Request', status: 400 })
  }
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  for (const [path, status] of [
    ['/teas', 200],
    ['/old', 302],
    ['/static', 200],
    ['/static', 200],
    ['/file', 200],
    ['/file', 200],
    ['/gone', 404],
    ['/nowhere', 404],
    ['/throws', 500],
    ['/livez', 200],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(server.url + path, {
        method,
        headers: { 'x-request-id': 'r-1' },
        redirect: 'manual',
      })
      equal(response.status, status, path)
      equal(response.headers.get('x-request-id'), 'r-1')
      assertHeaders(response, path)
    }
  }
  const file = await fetch(`${server.url}/file`)
  equal(await file.text(), await Bun.file(`${import.meta.dir}/serve.ts`).text())
  const { headers } = await fetch(`${server.url}/embeddable`)
  equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
  equal(headers.get('x-content-type-options'), 'nosniff')
})

test('a proxied response gets the headers, and the id of this request', async () => {
  const headers = { 'x-request-id': 'another', 'referrer-policy': 'origin' }
  using upstream = Bun.serve({ port: 0, fetch: () => new Response('proxied', { status: 203, headers }) })
  await using server = await serve(createApp(createOptions(), { '/proxied': () => fetch(upstream.url) }))
  const response = await fetch(`${server.url}/proxied`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 203)
  equal(await response.text(), 'proxied')
  equal(response.headers.get('x-request-id'), 'r-1')
  equal(response.headers.get('referrer-policy'), 'origin')
  equal(response.headers.get('x-content-type-options'), 'nosniff')
})

test('what Bun would serve past the plugins is refused before the start, with a sentence', () => {
  for (const route of [{}, { GET: 'text' }, { dir: './public' }, null, false]) {
    throws(
      () => createApp(createOptions(), { '/page': route } as unknown as Routes),
      /^StartError: The route '\/page' is not a handler, a Response, a file or an object of those by method\. .*HTML import/,
    )
  }
})

test('an HTML import is refused, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'html-import-'))
  try {
    const page = join(folder, 'page.html')
    await Bun.write(page, '<!DOCTYPE html><title>Teas</title>')
    const { default: route } = await import(page)
    throws(() => createApp(createOptions(), { '/page': route }), /^StartError: The route '\/page'/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('what has no route is a problem, and a method without a route is told the others', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  for (const [method, path, status, allow] of [
    ['GET', '/nowhere', 404, null],
    ['DELETE', '/teas', 405, 'GET, POST, HEAD'],
    ['GET', '/echo', 405, 'POST'],
    ['POST', '/static', 405, 'GET, HEAD'],
    ['POST', '/livez', 405, 'GET, HEAD'],
  ] as const) {
    const response = await fetch(server.url + path, { method })
    equal(response.status, status)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    equal(response.headers.get('allow'), allow)
    assertHeaders(response, path)
    match(await response.text(), new RegExp(`"status":${status}`))
  }
})

for (const way of ['throws', 'rejects', 'throws/text']) {
  test(`/${way}: 500 without the cause, which is logged once with the client's id`, async () => {
    const { readLines, ...options } = createOptions()
    await using server = await serve(createApp(options, routes))
    const response = await fetch(`${server.url}/${way}`)
    equal(response.status, 500)
    deepEqual(await response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const requestId = response.headers.get('x-request-id')
    const [failed, completed, ...others] = await readLines(2)
    deepEqual([failed?.level, failed?.requestId], [ERROR, requestId])
    match(JSON.stringify(failed?.err), /secret/)
    deepEqual([completed?.requestId, completed?.status], [requestId, 500])
    deepEqual(others, [])
  })
}

test('a handler that throws a status: the client is told, and nothing has failed', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp(options, routes))
  const response = await fetch(`${server.url}/conflicts`)
  equal(response.status, 409)
  deepEqual(await response.json(), { type: 'about:blank', title: 'Conflict', status: 409 })
  deepEqual(
    (await readLines(1)).map(({ level, status }) => [level, status]),
    [[INFO, 409]],
  )
})

test('a handler that never responds: 503 with all headers when its time is over, logged with the id', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createApp(options, routes))
  const response = await fetch(`${server.url}/hangs`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 503)
  equal(response.headers.get('content-type'), PROBLEM_JSON)
  assertHeaders(response, '/hangs')
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

test('a stream that fails is cut, and its route logs the cause with the id', async () => {
  async function* fail(id: string, log: Logger) {
    yield 'half'
    await sleep(20)
    try {
      throw new Error('secret')
    } catch (error) {
      logFailure(log, id, error)
      throw error
    }
  }
  const { readLines, ...options } = createOptions()
  const streams: Routes = {
    '/breaks': (request, server) => new Response(fail(idOf(request), server.log)),
  }
  await using server = await serve(createApp(options, streams))
  const response = await fetch(`${server.url}/breaks`, { headers: { 'x-request-id': 'r-1' } })
  equal(response.status, 200)
  await rejects(response.text())
  const [responded, failed, ...others] = await readLines(2)
  deepEqual([responded?.level, responded?.requestId, responded?.status], [INFO, 'r-1', 200])
  deepEqual([failed?.level, failed?.requestId], [ERROR, 'r-1'])
  match(JSON.stringify(failed?.err), /secret/)
  deepEqual(others, [])
})

/** Server-sent events: a comment line now and then, until the server drains. */
function createEvents({ signal }: Health): Routes {
  const encoder = new TextEncoder()
  const open = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode('data: first\n\n')),
      async pull(controller) {
        await sleep(20)
        if (signal.aborted) controller.close()
        else controller.enqueue(encoder.encode(': still here\n\n'))
      },
    })
  return {
    '/events': () => new Response(open(), { headers: { 'content-type': 'text/event-stream' } }),
  }
}

test('server-sent events outlive the handler timeout, and end when the server drains', async () => {
  const { readLines: _, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  await using server = await serve(createApp(options, createEvents(options.health)))
  const response = await fetch(`${server.url}/events`)
  assertHeaders(response, '/events')
  let received = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    // At 20 ms each, these take longer than the handler timeout.
    if (received.split(': still here').length > 20) options.health.drain()
  }
  match(received, /^data: first\n\n(: still here\n\n){20,}$/)
})

test('a body may have 65,536 bytes, whether its length was announced or not', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  const largest = 'x'.repeat(BODY_LIMIT)
  for (const encode of [(text: string) => text, (text: string) => new Blob([text]).stream()]) {
    const passed = await fetch(`${server.url}/echo`, post(encode(largest)))
    equal(passed.status, 200)
    equal((await passed.text()).length, BODY_LIMIT)
    const refused = await fetch(`${server.url}/echo`, post(encode(`${largest}x`)))
    equal(refused.status, 413)
    equal(refused.headers.get('connection'), 'close')
  }
})

test('keeps a good request id and replaces a bad one', async () => {
  await using server = await serve(createApp(createOptions(), routes))
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
  await using server = await serve(createApp(options, routes))
  const response = await fetch(`${server.url}/readyz`)
  deepEqual([response.status, await response.text()], [503, '{"status":"fail"}'])
  equal((await fetch(`${server.url}/livez`)).status, 200)
})

test('while draining it is alive but not ready, and every response ends its connection', async () => {
  const { readLines: _, ...options } = createOptions()
  await using server = await serve(createApp(options, routes))
  equal((await fetch(`${server.url}/readyz`)).status, 200)
  options.health.drain()
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
  await using server = await serve(createApp(options, routes))
  await fetch(`${server.url}/livez`)
  await fetch(`${server.url}/readyz`)
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await fetch(`${server.url}/teas/a?b=c`, { headers: { 'x-request-id': 'first', traceparent } })
  await fetch(`${server.url}/nowhere`, { method: 'POST', headers: { 'x-request-id': 'second' } })
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
