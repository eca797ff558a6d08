import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { ssr } from '@startgrid/express/ssr.ts'
import { partial } from '@startgrid/express-to-fastify-express/partial.ts'
import { Router } from 'express'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { start } from './start.ts'

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
  await using server = await start(createOptions(), ssr)
  for (const [path, isPage] of [
    ['/', true],
    ['/nowhere', false],
  ] as const) {
    const { headers } = await fetch(server.url + path)
    const policy = headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-(.{24})'/.exec(policy)?.[1] ?? ''
    equal(policy, isPage ? pagePolicy(nonce) : SECURITY_HEADERS['content-security-policy'], path)
    const names = [...Object.keys(SECURITY_HEADERS), ...NAMES, ...(isPage ? ['cache-control'] : [])]
    deepEqual([...headers.keys()].sort(), names.sort(), path)
  }
})

/** What the apps' suite does not ask of a route that fails, because Express alone has no other way. */
const failing = Router()
  .get('/passes/an/error/on', (_request, _response, next) => next('it'))
  .get('/fails/with/a/good/status', (_request, response) => fail(response.status(200)))
  .get('/fails/with/an/error/that/says/200', () => fail({ status: 200 }))
  .use('/fails/in/its/middleware', () => fail())

function fail(properties: object = {}): never {
  throw Object.assign(new Error('secret'), properties)
}

test('no failure becomes a 200', async () => {
  await using server = await start(createOptions(), failing)
  const paths = ['passes/an/error/on', 'fails/with/a/good/status', 'fails/with/an/error/that/says/200']
  for (const path of [...paths, 'fails/in/its/middleware']) {
    const response = await fetch(`${server.url}/${path}`)
    const { status } = (await response.json()) as { status: number }
    deepEqual([response.status, status], [500, 500], path)
  }
})

test('an unknown path is unknown with any body, which is not read', async () => {
  await using server = await start(createOptions())
  for (const path of ['/nowhere', '/_/status']) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(server.url + path, { method: 'POST', headers, body: '{' })
    equal(response.status, 404, path)
    match(response.headers.get('content-type') ?? '', /^application\/problem\+json/)
  }
})

test('what surrounds the routes runs once per request, no matter what sends the response', async () => {
  const { readLines, ...options } = createOptions()
  const seen: unknown[] = []
  const routes = Router()
    .use((request, _response, next) => {
      seen.push(request.id)
      next()
    })
    .get('/throws', () => fail({ status: 409 }))
    .get('/responds', (_request, response) => {
      response.send('')
    })
  await using server = await start(options, routes)
  const ids: unknown[] = []
  for (const path of ['/responds', '/throws', '/nowhere'])
    ids.push((await fetch(server.url + path)).headers.get('x-request-id'))
  const lines = await readLines(3)
  deepEqual(
    lines.map(({ requestId }) => requestId),
    ids,
  )
  deepEqual(seen, ids)
})

test('Express is given the target as it was sent', async () => {
  const { readLines, ...options } = createOptions()
  const routes = Router().get('/targets/*any', ({ url, originalUrl }, response) => {
    response.json([url, originalUrl])
  })
  await using server = await start(options, ssr, routes)
  const target = '/targets/%41%2541%2F?q=%zz%41'
  deepEqual(await (await fetch(server.url + target)).json(), [target, target])
  equal((await readLines(1)).pop()?.path, '/targets/%41%2541%2F')
  for (const [path, status] of [
    ['/?items=%35', 200],
    ['/?items=%2535', 400],
    ['/?unknown=%zz', 200],
    ['/%zz', 400],
  ] as const) {
    equal((await fetch(server.url + path)).status, status, path)
    equal((await readLines(1)).pop()?.path, path.split('?')[0])
  }
})

test('a fragment has its locale and its slug decoded once, and the policy of a page', async () => {
  await using server = await start(createOptions(), partial)
  const response = await fetch(`${server.url}/partial/%64e-DE/honeyed-assam-black`)
  match(await response.text(), /^<article lang="de-DE"/)
  match(response.headers.get('content-security-policy') ?? '', /script-src 'nonce-/)
  for (const path of ['/partial/%2564e-DE/honeyed-assam-black', '/partial/de-DE/no-such-tea'])
    equal((await fetch(server.url + path)).status, 404, path)
})

test('nothing waits for what `send` returns', async () => {
  for (const [routes, path] of [
    [[], '/_/status'],
    [[], '/livez'],
    [[ssr], '/'],
    [[partial], '/partial/de-DE/honeyed-assam-black'],
  ] as const) {
    await using server = await start(createOptions(), ...routes)
    equal((await fetch(server.url + path)).status, 200)
  }
  deepEqual(deprecations, [])
})
