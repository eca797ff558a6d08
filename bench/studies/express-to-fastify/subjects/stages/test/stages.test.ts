import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ssr } from '@startgrid/express/ssr.ts'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import { products } from '@startgrid/shared/page/shop/product.ts'
import { pageHeaders, SECURITY_HEADERS } from '@startgrid/shared/security.ts'
import { createOptions, INFO, serve } from '@startgrid/shared/testing/app.ts'
import { Router } from 'express'
import { partial } from '../src/express.ts'
import { createApp } from '../src/fastify-express.ts'
import { renderFragment } from '../src/fragment.ts'

/**
 * What broke where this migration was made before, in One App, and was mended later (https://github.com/americanexpress/one-app):
 * helmet's default policy (e77372a), application errors that became 200 (26a7740), hooks that ran more than once (2d84d6a). And what
 * @fastify/express itself changes.
 */

async function start(options: AppOptions, routes: Router) {
  const app = createApp(options, routes)
  await app.ready()
  return serve(app.server)
}

test('a page has its own policy, and all else that of the app', async () => {
  await using app = await start(createOptions(), ssr)
  for (const [path, isPage] of [
    ['/', true],
    ['/nowhere', false],
  ] as const) {
    const { headers } = await fetch(app.url + path)
    const policy = headers.get('content-security-policy') ?? ''
    const [, nonce = ''] = /'nonce-(.{24})'/.exec(policy) ?? []
    equal(policy, (isPage ? pageHeaders(nonce) : SECURITY_HEADERS)['content-security-policy'])
    equal(headers.get('referrer-policy'), 'no-referrer')
  }
})

test('a page that its client leaves is no failure', async () => {
  const { readLines, ...options } = createOptions()
  await using app = await start(options, ssr)
  const leaves = new AbortController()
  const { signal } = leaves
  const response = await fetch(`${app.url}/stream?items=1&delay=5000`, { signal })
  await response.body?.getReader().read()
  leaves.abort()
  const lines = await readLines(1)
  await setTimeout(100) // what else is written comes later
  deepEqual(
    lines.map(({ level, path }) => [level, path]),
    [[INFO, '/stream']],
  )
})

const failing = Router()
  .get('/passes/an/error/on', (_request, _response, next) => next('it'))
  .get('/fails/with/a/good/status', (_request, response) => fail(response.status(200)))
  .get('/fails/with/an/error/that/says/200', () => fail({ status: 200 }))
  .use('/fails/in/its/middleware', () => fail())

function fail(properties: object = {}): never {
  throw Object.assign(new Error('secret'), properties)
}

test('no failure becomes a 200', async () => {
  await using app = await start(createOptions(), failing)
  const paths = ['passes/an/error/on', 'fails/with/a/good/status', 'fails/with/an/error/that/says/200']
  for (const path of [...paths, 'fails/in/its/middleware']) {
    const response = await fetch(`${app.url}/${path}`)
    const { status } = (await response.json()) as { status: number }
    deepEqual([response.status, status], [500, 500], path)
  }
})

test('what surrounds the routes runs once per request', async () => {
  const { readLines, ...options } = createOptions()
  const seen: unknown[] = []
  const routes = Router()
    .use((request, _response, next) => {
      seen.push(request.id)
      next()
    })
    .get('/responds', (_request, response) => {
      response.send('')
    })
  await using app = await start(options, routes)
  const ids: unknown[] = []
  for (const path of ['/responds', '/nowhere'])
    ids.push((await fetch(app.url + path)).headers.get('x-request-id'))
  const lines = await readLines(2)
  deepEqual(
    lines.map(({ requestId }) => requestId),
    ids,
  )
  deepEqual(seen, ids)
})

test('a fragment has its slug decoded once, and the policy of a page', async () => {
  await using app = await start(createOptions(), partial)
  const response = await fetch(`${app.url}/partial/en-US/%68oneyed-assam-black`)
  match(await response.text(), /^<article lang="en-US"/)
  match(response.headers.get('content-security-policy') ?? '', /script-src 'nonce-/)
  for (const path of ['/partial/en-US/%2568oneyed-assam-black', '/partial/en-US/no-such-tea'])
    equal((await fetch(app.url + path)).status, 404, path)
})

test('a fragment tells the facts of its product', () => {
  const html = renderFragment('honeyed-assam-black') ?? ''
  match(html, /^<article lang="en-US" class="black".*Honeyed Assam Black<\/h2>.*<\/article>$/)
  const facts = [...html.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, text]) => text)
  equal(facts.join('|'), 'Black tea|India|Spring|203\u00a0°F|4\u00a0min|€3.90 per 3.5 oz')
})

test('every one of the first 50 products has a fragment, the next and what is no product has none', () => {
  const [extra, ...rest] = products(51).reverse()
  for (const { slug } of rest) ok(renderFragment(slug), slug)
  for (const slug of [extra?.slug ?? '', '', 'constructor', 'HONEYED-ASSAM-BLACK'])
    equal(renderFragment(slug), undefined, slug)
})
