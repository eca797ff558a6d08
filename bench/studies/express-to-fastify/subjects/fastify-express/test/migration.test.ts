import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Router } from 'express'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createStatus as createApp, createFragments, createPages } from './apps.ts'
import { serve } from './serve.ts'

/**
 * What broke where this migration was made before, in One App, and was mended later (https://github.com/americanexpress/one-app):
 * helmet's default policy (e77372a), application errors that became 200 (26a7740), hooks that ran more than once (2d84d6a). And what
 * @fastify/express itself changes.
 */

const NAMES = ['connection', 'content-length', 'content-type', 'date', 'x-request-id']

/** Express's, of a handler that returns something with a `then` that is no promise. */
const deprecations: unknown[] = []
process.on('deprecation', (warning) => deprecations.push(warning))

test('a policy comes from the route alone, and no other header is added', async () => {
  await using server = await serve(createPages(createOptions()))
  for (const [path, isPage] of [
    ['/', true],
    ['/nowhere', false],
  ] as const) {
    const { headers } = await server.client.get(path)
    const policy = headers['content-security-policy'] ?? ''
    const nonce = /'nonce-(.{24})'/.exec(policy)?.[1] ?? ''
    equal(policy, isPage ? pagePolicy(nonce) : SECURITY_HEADERS['content-security-policy'], path)
    const names = [...Object.keys(SECURITY_HEADERS), ...NAMES, ...(isPage ? ['cache-control'] : [])]
    deepEqual(Object.keys(headers).sort(), names.sort(), path)
  }
})

/** Every way in which an Express route can fail, and what the client is to be told. */
const FAILURES: Record<string, [status: number, add: (router: Router, path: string) => void]> = {
  throws: [500, (router, path) => router.get(path, fail)],
  rejects: [500, (router, path) => router.get(path, async () => fail())],
  'passes an error on': [500, (router, path) => router.get(path, (_request, _response, next) => next('it'))],
  'fails with a good status': [
    500,
    (router, path) => router.get(path, (_request, response) => fail(response.status(200))),
  ],
  'fails with an error that says 200': [500, (router, path) => router.get(path, () => fail({ status: 200 }))],
  'fails in its middleware': [500, (router, path) => router.use(path, fail)],
  'fails with a status of the client': [409, (router, path) => router.get(path, () => fail({ status: 409 }))],
}

function fail(properties: object = {}): never {
  throw Object.assign(new Error('secret'), properties)
}

for (const [way, [status, add]] of Object.entries(FAILURES)) {
  test(`a route that ${way}: ${status}`, async () => {
    const app = createApp({ ...createOptions(), routes: (router) => add(router, '/fails') })
    await using server = await serve(app)
    const response = await server.client.get('/fails')
    equal(response.status, status)
    equal(response.body.status, status)
  })
}

test('what surrounds the routes runs once per request, no matter what sends the response', async () => {
  const { readLines, ...options } = createOptions()
  const seen: unknown[] = []
  const routes = (router: Router) => {
    router.use((request, _response, next) => {
      seen.push(request.id)
      next()
    })
    router.get('/throws', () => fail({ status: 409 }))
    router.get('/responds', (_request, response) => {
      response.send('')
    })
  }
  await using server = await serve(createApp({ ...options, routes }))
  const ids: unknown[] = []
  for (const path of ['/responds', '/throws', '/nowhere'])
    ids.push((await server.client.get(path)).headers['x-request-id'])
  const lines = await readLines(3)
  deepEqual(
    lines.map(({ requestId }) => requestId),
    ids,
  )
  deepEqual(seen, ids)
})

test('Express is given the target as it was sent', async () => {
  const { readLines, ...options } = createOptions()
  const routes = (router: Router) =>
    router.get('/targets/*any', ({ url, originalUrl }, response) => {
      response.json([url, originalUrl])
    })
  await using server = await serve(createPages({ ...options, routes }))
  const target = '/targets/%41%2541%2F?q=%zz%41'
  deepEqual((await server.client.get(target)).body, [target, target])
  equal((await readLines(1)).pop()?.path, '/targets/%41%2541%2F')
  for (const [path, status] of [
    ['/?items=%35', 200],
    ['/?items=%2535', 400],
    ['/?unknown=%zz', 200],
    ['/%zz', 400],
  ] as const) {
    equal((await server.client.get(path)).status, status, path)
    equal((await readLines(1)).pop()?.path, path.split('?')[0])
  }
})

test('a fragment has its locale and its slug decoded once, and the policy of a page', async () => {
  await using server = await serve(createFragments(createOptions()))
  const { headers, text } = await server.client.get('/partial/%64e-DE/honeyed-assam-black')
  match(text, /^<article lang="de-DE"/)
  match(headers['content-security-policy'] ?? '', /script-src 'nonce-/)
  for (const path of ['/partial/%2564e-DE/honeyed-assam-black', '/partial/de-DE/no-such-tea'])
    equal((await server.client.get(path)).status, 404, path)
})

test('nothing waits for what `send` returns', async () => {
  for (const [create, path] of [
    [createApp, '/_/status'],
    [createApp, '/livez'],
    [createPages, '/'],
    [createFragments, '/partial/de-DE/honeyed-assam-black'],
  ] as const) {
    await using server = await serve(create(createOptions()))
    equal((await server.client.get(path)).status, 200)
  }
  deepEqual(deprecations, [])
})
