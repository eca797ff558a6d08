import { deepEqual, equal, match } from 'node:assert/strict'
import type { Server } from 'node:http'
import { test } from 'node:test'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import type { AppOptions } from '#shared/app-options.ts'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions, ERROR, serve } from '#shared/testing/app.ts'
import { testApp, testBrokenBodies, testForwarded, testRequests } from '../../../packages/shared/test/app.ts'
import { testPageUnderLoad } from '../../../packages/shared/test/page-under-load.ts'
import { createFailingApp, failing } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { clientOf } from '../src/forwarded.ts'
import { ssr } from '../src/ssr.ts'

const create = (options: AppOptions) => createFailingApp(options, new Hono())
const start = (options: AppOptions) => serve(create(options))
testApp(start)
testForwarded(create)
testBrokenBodies(start)
testPageUnderLoad((options) => serve(createFailingApp(options, ssr)))

const post = (body: string | Blob, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: typeof body === 'string' ? body : body.stream(),
  ...(body instanceof Blob && { duplex: 'half' }),
})

test('broken JSON of the client is a 400, and that of an upstream is a failure', async () => {
  const { readLines, ...options } = createOptions()
  const routes = new Hono()
    .post('/client', async (c) => c.json(await c.req.json()))
    .post('/upstream', async (c) => c.json([await c.req.json(), await new Response('{').json()]))
  const app = createApp(options, routes)
  equal((await app.request('/client', post('{'))).status, 400)
  equal((await app.request('/upstream', post('{}'))).status, 500)
  const [failed] = (await readLines(3)).filter(({ level }) => level === ERROR)
  match(JSON.stringify(failed?.err), /SyntaxError/)
})

testRequests((options, fetched) => {
  const own = new Hono()
    .get('/fetched', fetched)
    .get('/redirect', () => Response.redirect('https://a.example'))
  const { fetch, request } = createApp(options, own.route('/', ssr).route('/', failing))
  return { request, server: createAdaptorServer({ fetch }) as Server }
})

test('the client of a request behind a trusted proxy, on any runtime, also of one with a body', async () => {
  const app = createApp(
    createOptions({ TRUST_PROXY: '10.0.0.1' }),
    new Hono().all('/client', async (c) =>
      c.json([clientOf(c), c.req.url, c.req.raw.url, await c.req.text()]),
    ),
  )
  const headers = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'a.example',
  }
  for (const [address, client, origin] of [
    ['10.0.0.1', '203.0.113.7', 'https://a.example'],
    ['10.0.0.2', '10.0.0.2', 'http://localhost'],
  ] as const)
    for (const init of [{}, { method: 'POST', body: 'tea' }]) {
      const told = await app.request('/client', { headers, ...init }, { address })
      const url = `${origin}/client`
      deepEqual(await told.json(), [client, url, url, init.body ?? ''])
    }
})

test('a body over the limit is 413; a route with a larger limit is registered before it', async () => {
  const KIB = 1024
  const count = new Hono().on(['POST', 'QUERY'], '/', async (c) => c.json((await c.req.text()).length))
  const larger = new Hono().use('/larger', bodyLimit({ maxSize: 128 * KIB })).route('/larger', count)
  const app = createApp(createOptions(), new Hono().route('/usual', count), larger)
  for (const [path, limit] of [
    ['/usual', 64 * KIB],
    ['/larger', 128 * KIB],
  ] as const) {
    equal((await app.request(path, post(new Blob(['x'.repeat(limit)])))).status, 200, path)
    const refused = await app.request(path, post(new Blob(['x'.repeat(limit + 1)])))
    deepEqual([refused.status, refused.headers.get('content-type')], [413, PROBLEM], path)
  }
  const query = { ...post('x'.repeat(64 * KIB + 1)), method: 'QUERY' }
  equal((await app.request('/usual', query)).status, 413)
})

test('the response of an HTTPException keeps its headers', async () => {
  const locked = new Hono().get('/private', basicAuth({ username: 'ada', password: 'lovelace' }))
  const refused = await createApp(createOptions(), locked).request('/private')
  deepEqual([refused.status, refused.headers.get('content-type')], [401, PROBLEM])
  match(refused.headers.get('www-authenticate') ?? '', /^Basic /)
  const headers = new Headers([
    ['set-cookie', 'a='],
    ['set-cookie', 'b='],
    ['content-security-policy', 'sandbox'],
  ])
  const out = new Hono().get('/out', () => {
    throw new HTTPException(401, { res: new Response('', { headers }) })
  })
  const own = (await createApp(createOptions(), out).request('/out')).headers
  deepEqual([own.getSetCookie(), own.get('content-security-policy')], [['a=', 'b='], 'sandbox'])
})

test('what is thrown and is no Error is a failure as well, and so is no response', async () => {
  const routes = new Hono()
    .get('/object', () => {
      throw { code: 'secret' }
    })
    .get('/nothing', () => Promise.reject())
    .get('/no-response', (() => {}) as () => never)
  for (const [path, cause] of [
    ['/object', /secret/],
    ['/nothing', /undefined/],
    ['/no-response', /Did you forget to return a Response/],
  ] as const) {
    const { readLines, ...options } = createOptions()
    const failed = await createApp(options, routes).request(path)
    deepEqual([failed.status, failed.headers.get('content-type')], [500, PROBLEM])
    equal((await failed.text()).includes('secret'), false)
    match(JSON.stringify((await readLines(1))[0]?.err), cause)
  }
})

test('the log has the route as it was registered, the raw path and the trace, and no line of a probe', async () => {
  const { readLines, ...options } = createOptions()
  const items = new Hono().get('/items/:item', (c) => c.body(null, 204))
  const routes = new Hono().route('/users/:user', items).get('/users/*', (c) => c.notFound()) // does not run
  await using app = await serve(createFailingApp(options, routes))
  await fetch(`${app.url}/livez`)
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  await fetch(`${app.url}/users/1/items/a%20b?c=d`, { headers })
  await fetch(`${app.url}/nowhere`)
  const [found, lost] = await readLines(2)
  deepEqual(
    [found?.path, found?.route, found?.trace_id],
    ['/users/1/items/a%20b', '/users/:user/items/:item', '4bf92f3577b34da6a3ce929d0e0e4736'],
  )
  deepEqual([lost?.path, lost?.route, lost?.status], ['/nowhere', undefined, 404])
})
