import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { HttpProblem } from '#shared/http/http-problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { json, type Routes, readJson, text } from '../src/handler.ts'
import { send } from './fake-request.ts'

/** Routes that a reader adds, and routes that fail. */
const routes: Routes = {
  '/': { GET: () => text('home') },
  '/echo/:one/:two': { GET: (_request, { one, two }) => json([one, two]) },
  '/teas': {
    GET: () => json([]),
    async POST(request) {
      const { name, grams } = readJson(request) as { name?: unknown; grams?: unknown }
      if (typeof grams !== 'number' || grams < 1)
        throw new HttpProblem(400, { errors: [{ field: 'grams', reason: 'must be >= 1' }] })
      return json({ name, grams }, 201)
    },
  },
  '/old': { GET: () => ({ status: 302, headers: { location: '/teas' } }) },
  '/embeddable': {
    GET: () => ({ headers: { 'cross-origin-resource-policy': 'cross-origin' }, body: 'from anywhere' }),
  },
  '/throws': {
    GET() {
      throw new Error('the secret cause')
    },
  },
  '/rejects': {
    async GET() {
      throw new Error('the secret cause')
    },
  },
}

function problem(status: number, title: string): string {
  return `{"type":"about:blank","title":"${title}","status":${status}}`
}

test('routes by the target as it was sent', async () => {
  equal((await send(routes, '/')).body, 'home')
  equal((await send(routes, '/?any=query')).body, 'home')
  const echo = await send(routes, '/echo/a%2Fb/%C3%A9+')
  deepEqual([echo.body, echo.route], ['["a/b","é+"]', '/echo/:one/:two'])
  for (const target of [
    '/x',
    '//',
    '/echo/a',
    '/echo//b',
    '/echo/a/',
    '/echo/a/b/c',
    '/ECHO/a/b',
    '/constructor',
  ]) {
    const { status, body, headers, route } = await send(routes, target)
    deepEqual([status, body, route], [404, problem(404, 'Not Found'), undefined], target)
    equal(headers['content-type'], 'application/problem+json')
  }
})

test('a parameter that does not decode is 400', async () => {
  deepEqual((await send(routes, '/echo/%FF/b')).body, problem(400, 'Bad Request'))
  equal((await send(routes, '/?q=%zz')).status, 200)
})

test('a method without a handler is 405 with the ones that have one', async () => {
  for (const [method, target, allow] of [
    ['DELETE', '/teas', 'GET, HEAD, POST'],
    ['OPTIONS', '/echo/a/b', 'GET, HEAD'],
    ['constructor', '/', 'GET, HEAD'],
  ] as const) {
    const { status, headers, body } = await send(routes, target, { method })
    deepEqual([status, headers.allow, body], [405, allow, problem(405, 'Method Not Allowed')])
  }
  equal((await send(routes, '/x', { method: 'POST' })).status, 404)
  equal((await send(routes, '/', { method: 'HEAD' })).body, 'home')
})

test('a POST stands beside a GET: a JSON body, an async handler, and the GET still works', async () => {
  const post = (body: string, type?: string) =>
    send(routes, '/teas', { method: 'POST', body, ...(type && { type }) })
  const added = await post('{"name":"Assam","grams":100}', 'Application/JSON; charset=utf-8')
  deepEqual([added.status, added.body], [201, '{"name":"Assam","grams":100}'])
  equal((await send(routes, '/teas')).body, '[]')
  equal((await post('{')).body, problem(400, 'Bad Request'))
  equal((await post('grams=1', 'application/x-www-form-urlencoded')).status, 415)
  const refused = JSON.parse((await post('{"grams":0}')).body ?? '')
  deepEqual(refused.errors, [{ field: 'grams', reason: 'must be >= 1' }])
})

test('every response has the security headers and the id, and a route may replace them', async () => {
  for (const target of ['/', '/x', '/%zz', '/throws', '/livez']) {
    const { headers } = await send(routes, target)
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'x-request-id': 'r-1' }))
      equal(headers[name], value, `${target} ${name}`)
  }
  const { headers } = await send(routes, '/embeddable')
  equal(headers['cross-origin-resource-policy'], 'cross-origin')
  const moved = await send(routes, '/old')
  deepEqual([moved.status, moved.body], [302, '/teas'])
})

for (const way of ['throws', 'rejects']) {
  test(`a handler that ${way} is 500, and only the error log has the cause`, async () => {
    const { status, body, errors } = await send(routes, `/${way}`)
    deepEqual([status, body], [500, problem(500, 'Internal Server Error')])
    equal(errors.length, 1)
    match(errors[0] ?? '', /^r-1 failed: the secret cause\n.*app\.test/s)
  })
}

test('a client that has left is not a failure; another error of NGINX is', async () => {
  deepEqual((await send(routes, '/', { failure: new Error('failed to send response') })).errors, [])
  await rejects(send(routes, '/', { failure: new Error('out of memory') }), /out of memory/)
})

test('readiness fails while draining, liveness does not', async () => {
  for (const [target, draining, status, word] of [
    ['/livez', true, 200, 'pass'],
    ['/readyz', false, 200, 'pass'],
    ['/readyz', true, 503, 'fail'],
  ] as const) {
    const response = await send(routes, target, { draining })
    deepEqual([response.status, response.body], [status, `{"status":"${word}"}`])
    equal(response.headers['content-type'], 'application/health+json')
    equal(response.headers['cache-control'], 'no-store')
  }
})
