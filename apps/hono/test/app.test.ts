import { deepEqual, equal, match } from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import type { AppOptions } from '#shared/app-options.ts'
import { PROBLEM } from '#shared/problem.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { createOptions, serve } from '#shared/testing/app.ts'
import { testApp, testBrokenBodies, testForwarded } from '../../../packages/shared/test/app.ts'
import { testPageUnderLoad } from '../../../packages/shared/test/page-under-load.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
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
  const [line] = await readLines(1)
  match(JSON.stringify(line?.err), /SyntaxError/)
})

test('a fetched response, whose headers cannot be changed, has those of the app', async () => {
  const upstream = createServer((_request, response) => {
    response.writeHead(203, { 'set-cookie': ['a=1', 'b=2'], 'referrer-policy': 'origin' }).end('fetched')
  })
  await using from = await serve(upstream)
  const { fetch: handle } = createApp(
    createOptions(),
    new Hono().get('/fetched', () => fetch(from.url)),
  )
  await using app = await serve(createAdaptorServer({ fetch: handle }) as typeof upstream)
  const response = await fetch(`${app.url}/fetched`, { headers: { 'x-request-id': 'r-1' } })
  deepEqual([response.status, await response.text()], [203, 'fetched'])
  const expected = { ...SECURITY_HEADERS, 'x-request-id': 'r-1', 'referrer-policy': 'origin' }
  for (const [name, value] of Object.entries(expected)) equal(response.headers.get(name), value, name)
  deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
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
