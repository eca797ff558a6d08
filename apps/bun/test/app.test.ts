import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BunRequest, type Server, sleep } from 'bun'
import { z } from 'zod'
import type { Health } from '#shared/http/health.ts'
import { type FieldError, PROBLEM_JSON, type Problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'
import { testApp } from '#shared/testing-before/app.ts'
import { createOptions, ERROR, INFO } from '#shared/testing-before/options.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { idOf } from '../src/middleware/request-id.ts'
import type { Routes } from '../src/wrap-routes.ts'
import { serve, start } from './serve.ts'

testApp((options) => start(createFailingApp(options, () => ({}))))

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
  '/hangs': () => new Promise<Response>(() => {}),
  '/parses': {
    POST: async (request) => {
      await request.text()
      return Response.json(JSON.parse('{'))
    },
  },
  '/echo': { POST: async (request) => new Response(await request.text()) },
} satisfies Routes

const post = (body: string | ReadableStream): RequestInit => ({ method: 'POST', body })

function assertHeaders(response: Response, label: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    expect(response.headers.get(name), `${label} ${name}`).toBe(value)
}

test('a POST stands beside a GET: validated body, typed result, and the GET still works', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  const added = await fetch(`${server.url}/teas`, post(JSON.stringify({ name: 'Assam', grams: 100 })))
  expect(added.status).toBe(201)
  expect(await added.json()).toEqual({ name: 'Assam', grams: 100 })
  expect(added.headers.get('set-cookie') ?? '').toMatch(/^last=tea; .*HttpOnly/)
  assertHeaders(added, '/teas')
  expect(await (await fetch(`${server.url}/teas`)).json()).toEqual([])
  const form = await fetch(`${server.url}/form`, {
    method: 'POST',
    body: new URLSearchParams({ name: 'Assam' }),
    redirect: 'manual',
  })
  expect([form.status, form.headers.get('location')]).toEqual([303, '/teas/Assam'])
})

test('a body that is not valid is 400, and the problem names the field', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  for (const [payload, field] of [
    [{ name: 'Assam', grams: 0 }, 'grams'],
    [{ grams: 1 }, 'name'],
  ] as const) {
    const response = await fetch(`${server.url}/teas`, post(JSON.stringify(payload)))
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe(PROBLEM_JSON)
    const { errors, ...problem } = (await response.json()) as Problem & { errors: FieldError[] }
    expect(problem).toEqual({ type: 'about:blank', title: 'Bad Request', status: 400 })
    expect(errors[0]?.field).toBe(field)
    expect(errors[0]?.reason ?? '').toMatch(/\w+ \w+/)
  }
  for (const [path, body] of [
    ['/teas', '{'],
    ['/teas', ''],
    ['/form', 'no form'],
  ] as const) {
    const broken = await fetch(server.url + path, post(body))
    expect(await broken.json()).toEqual({ type: 'about:blank', title: 'Bad Request', status: 400 })
  }
})

test('JSON that the app itself cannot parse is a failure', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  expect((await fetch(`${server.url}/parses`, post('{}'))).status).toBe(500)
})

test('a proxied response gets the headers, and the id of this request', async () => {
  const headers = { 'x-request-id': 'another', 'referrer-policy': 'origin' }
  using upstream = Bun.serve({ port: 0, fetch: () => new Response('proxied', { status: 203, headers }) })
  await using server = await serve(createApp(createOptions(), { '/proxied': () => fetch(upstream.url) }))
  const response = await fetch(`${server.url}/proxied`, { headers: { 'x-request-id': 'r-1' } })
  expect(response.status).toBe(203)
  expect(await response.text()).toBe('proxied')
  expect(response.headers.get('x-request-id')).toBe('r-1')
  expect(response.headers.get('referrer-policy')).toBe('origin')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
})

test('what Bun would serve without headers and log is refused before the start, with a sentence', () => {
  for (const route of [{}, { GET: 'text' }, { dir: './public' }, null, false]) {
    expect(() => createApp(createOptions(), { '/page': route } as unknown as Routes)).toThrow(
      /^The route '\/page' is not a handler, a Response, a file or an object of those by method\. .*HTML import/,
    )
  }
})

test('an HTML import is refused, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'html-import-'))
  try {
    const page = join(folder, 'page.html')
    await Bun.write(page, '<!DOCTYPE html><title>Teas</title>')
    const { default: route } = await import(page)
    expect(() => createApp(createOptions(), { '/page': route })).toThrow(/^The route '\/page'/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('what has no route is a 404 problem, also a method of a known path', async () => {
  await using server = await serve(createApp(createOptions(), routes))
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['DELETE', '/teas'],
    ['GET', '/echo'],
    ['POST', '/static'],
    ['POST', '/livez'],
  ] as const) {
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe(PROBLEM_JSON)
    assertHeaders(response, path)
    expect(await response.text()).toMatch(/"status":404/)
  }
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
    '/breaks': (request) => new Response(fail(idOf(request), options.log)),
  }
  await using server = await serve(createApp(options, streams))
  const response = await fetch(`${server.url}/breaks`, { headers: { 'x-request-id': 'r-1' } })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
  const [responded, failed, ...others] = await readLines(2)
  expect([responded?.level, responded?.requestId, responded?.status]).toEqual([INFO, 'r-1', 200])
  expect([failed?.level, failed?.requestId]).toEqual([ERROR, 'r-1'])
  expect(JSON.stringify(failed?.err)).toMatch(/secret/)
  expect(others).toEqual([])
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
  expect(received).toMatch(/^data: first\n\n(: still here\n\n){20,}$/)
})

test('a stream that is quiet for the idle timeout is cut, unless it is of server-sent events', async () => {
  let isCut = () => {}
  const cut = new Promise<void>((resolve) => {
    isCut = resolve
  })
  const open = (cancel = () => {}) =>
    new ReadableStream({ start: (c) => c.enqueue('data: first\n\n'), cancel })
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' }
  const streams: Routes = {
    '/hangs': () => new Response(open(isCut)),
    '/events': async () => new Response(open(), { headers }),
  }
  await using server = await serve({ ...createApp(createOptions(), streams), idleTimeout: 1 })
  const events = (await fetch(`${server.url}/events`)).body?.getReader()
  const hangs = await fetch(`${server.url}/hangs`)
  expect((await events?.read())?.done).toBe(false)
  const ends = events?.read().then(
    () => 'ended',
    () => 'cut',
  )
  await expect(hangs.text()).rejects.toThrow()
  await cut
  expect(await Promise.race([ends, sleep(1500).then(() => 'open')])).toBe('open')
})

test('HEAD of a stream without an end has its headers, and ends the stream', async () => {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  const streams: Routes = {
    '/endless': { GET: () => new Response(new ReadableStream({ cancel: () => resolve() })) },
  }
  await using server = await serve(createApp(createOptions(), streams))
  const response = await fetch(`${server.url}/endless`, { method: 'HEAD' })
  expect(response.status).toBe(200)
  assertHeaders(response, '/endless')
  await cancelled
})

const asText = (text: string) => text
/** A body without `content-length`. */
const asStream = (text: string) => new Blob([text]).stream()

test('a body may have 65,536 bytes, or what its route allows, whether its length was announced or not', async () => {
  const { readLines, ...options } = createOptions()
  const POST = routes['/echo'].POST
  const uploads = { ...routes, '/upload': { POST, maxRequestBodySize: 1_000_000 } }
  await using server = await serve(createApp(options, uploads))
  for (const encode of [asText, asStream]) {
    for (const [path, limit] of [
      ['/echo', BODY_LIMIT],
      ['/upload', 1_000_000],
    ] as const) {
      const passed = await fetch(server.url + path, post(encode('x'.repeat(limit))))
      expect(passed.status).toBe(200)
      expect((await passed.text()).length).toBe(limit)
      const refused = await fetch(server.url + path, post(encode('x'.repeat(limit + 1))))
      expect(refused.status).toBe(413)
      expect(refused.headers.get('connection')).toBe('close')
      assertHeaders(refused, path)
      expect(await refused.json()).toMatchObject({ title: 'Content Too Large', status: 413 })
    }
  }
  const statuses = (await readLines(8)).map(({ status }) => status)
  expect(statuses).toEqual([200, 413, 200, 413, 200, 413, 200, 413])
})

test('a Host that no URL may have is 400, because routes read the URL', async () => {
  const urls: Routes = { '/url': ({ url }) => new Response(new URL(url).pathname) }
  await using server = await serve(createApp(createOptions(), urls))
  for (const [host, status] of [
    ['shop.example', 200],
    ['1.2.3.4.5', 400],
    ['a:99999', 400],
    ['xn--a', 400],
    ['[1:2]', 400],
    ['[::1]:80', 200],
  ] as const)
    expect((await fetch(`${server.url}/url`, { headers: { host } })).status, host).toBe(status)
})

test('a client that leaves while its body is read has not made the app fail', async () => {
  const { readLines, ...options } = createOptions()
  const { promise: called, resolve } = Promise.withResolvers<void>()
  const reading: Routes = {
    '/read': {
      POST: (request) => {
        resolve()
        return request.arrayBuffer().then((body) => new Response(body))
      },
    },
  }
  await using server = await serve(createApp(options, reading))
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('POST /read HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf')
  await called
  socket.destroy()
  const lines = await readLines(1)
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([[INFO, 'request completed']])
})

interface Chat {
  name: string
}

test('a route upgrades to a WebSocket, as the documentation of Bun does', async () => {
  const { readLines, ...options } = createOptions()
  const chat = {
    '/chat/:name': (request: BunRequest<'/chat/:name'>, server: Server<Chat>) => {
      if (server.upgrade(request, { data: { name: request.params.name } })) return undefined
      return new Response('Upgrade failed', { status: 400 })
    },
  }
  const websocket: Bun.WebSocketHandler<Chat> = {
    message(ws, message) {
      ws.send(`${ws.data.name}: ${message}`)
    },
  }
  await using server = await serve({ ...createApp(options, chat), websocket })
  expect((await fetch(`${server.url}/chat/Ada`)).status).toBe(400)
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/chat/Ada`)
  await once(socket, 'open')
  socket.send('hello')
  const [{ data }] = await once(socket, 'message')
  expect(data).toBe('Ada: hello')
  socket.close()
  expect((await readLines(2)).map(({ status }) => status)).toEqual([400, 101])
})

test('while draining it is alive but not ready, and connections are kept until it has stopped listening', async () => {
  const { readLines: _, ...options } = createOptions()
  const app = createApp(options, routes)
  await using server = await serve(app)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  options.health.drain()
  const { status, headers } = await fetch(`${server.url}/readyz`)
  expect([status, headers.get('connection')]).toEqual([503, null])
  app.stop.isListening = false
  for (const [path, status] of [
    ['/readyz', 503],
    ['/livez', 200],
    ['/teas', 200],
    ['/nowhere', 404],
    ['/teas/%zz', 400],
    ['/throws', 500],
  ] as const) {
    const response = await fetch(server.url + path)
    expect(response.status, path).toBe(status)
    expect(response.headers.get('connection'), path).toBe('close')
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
  expect(
    lines.map(({ ms, time: _time, pid: _pid, hostname: _hostname, ...line }) => ({ ...line, ms: typeof ms })),
  ).toEqual<unknown>([
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
  ])
})
