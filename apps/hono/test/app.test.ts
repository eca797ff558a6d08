import { deepEqual, equal, match } from 'node:assert/strict'
import type { Server } from 'node:http'
import { test } from 'node:test'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions, ERROR, serve } from '#shared/testing/app.ts'
import {
  testForwardedRequests,
  testLoggedRoute,
  testOnNode,
  testRequests,
} from '../../../packages/shared/test/app.ts'
import { createFailingApp, failing } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { clientOf } from '../src/forwarded.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, new Hono(), ssr)

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

testForwardedRequests((options, request, address) => {
  const client = new Hono().all('/client', async (c) =>
    c.json([clientOf(c), c.req.url, c.req.raw.url, await c.req.text()]),
  )
  return createApp(options, client).fetch(request, { address })
})

testLoggedRoute((options) => {
  const items = new Hono().get('/items/:item', (c) => c.body(null, 204))
  const routes = new Hono().route('/users/:user', items).get('/users/*', (c) => c.notFound()) // does not run
  return serve(createFailingApp(options, routes))
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
