import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { PROBLEM, parseRequest } from '#shared/problem.ts'
import { createOptions, ERROR, serve } from '#shared/testing/app.ts'
import { testApp, testBrokenBodies, testForwarded } from '../../../packages/shared/test/app.ts'
import { testPageUnderLoad } from '../../../packages/shared/test/page-under-load.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'
import { ssr } from '../src/ssr.ts'

const create = (options: AppOptions) => createFailingApp(options, [])
const start = (options: AppOptions) => serve(create(options))
testApp(start)
testForwarded(create)
testBrokenBodies(start, ['/late/amid', 'data', /secret/])
testPageUnderLoad((options) => serve(createFailingApp(options, ssr)))

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

test('a body is JSON of at most 64 KiB, and the problem of one that is not valid names the field', async () => {
  const teas = route('POST', '/teas', async (context) => {
    context.json(parseRequest(Tea, await context.readJson()), 201)
  })
  await using app = await serve(createApp(createOptions(), [teas]))
  const name = 'x'.repeat(64 * 1024)
  for (const [body, type, status, fields] of [
    ['{"name":"Assam","grams":1}', 'application/json', 201, undefined],
    ['{"name":"Assam"}', 'application/json', 400, ['grams']],
    ['{', 'application/json', 400, undefined],
    ['name=Assam', 'application/x-www-form-urlencoded', 415, undefined],
    [`{"name":"${name}","grams":1}`, 'application/json', 413, undefined],
  ] as const) {
    const response = await fetch(`${app.url}/teas`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    equal(response.status, status, body.slice(0, 20))
    const { errors } = (await response.json()) as { errors?: { field: string }[] }
    deepEqual(
      errors?.map(({ field }) => field),
      fields,
    )
  }
})

test('the first route that matches path and method responds; without one it is 404', async () => {
  const { readLines, ...options } = createOptions()
  const routes = [
    route('GET', '/teas/new', (context) => context.text('new')),
    route('GET', '/teas/:tea/cups/:cup', (context) => context.json({ ...context.params })),
    route('POST', '/teas', (context) => context.text('posted')),
    route('GET', '/a.b', (context) => context.json(context.query)),
    route('GET', '/files/*', (context) => context.text(context.path)),
  ]
  await using app = await serve(createApp(options, routes))
  for (const [method, path, status, text] of [
    ['GET', '/teas/new', 200, 'new'],
    ['GET', '/teas/a%2Fb/cups/1', 200, '{"tea":"a/b","cup":"1"}'],
    ['POST', '/teas', 200, 'posted'],
    ['HEAD', '/teas/new', 200, ''],
    ['GET', '/a.b?c=1&c=2&d=%C3%AB', 200, '{"c":["1","2"],"d":"ë"}'],
    ['GET', '/files/a/b', 200, '/files/a/b'],
    ['GET', '/files', 404, undefined],
    ['GET', '/aXb', 404, undefined],
    ['GET', '/teas', 404, undefined],
    ['GET', '/teas//cups/1', 404, undefined],
    ['GET', '/teas/%ff/cups/1', 400, undefined],
  ] as const) {
    const response = await fetch(app.url + path, { method })
    equal(response.status, status, path)
    if (text === undefined) equal(response.headers.get('content-type'), PROBLEM)
    else equal(await response.text(), text)
  }
  const [, line] = await readLines(2)
  deepEqual([line?.path, line?.route], ['/teas/a%2Fb/cups/1', '/teas/:tea/cups/:cup'])
})

test('an upload that the client breaks off is no failure', async () => {
  const { readLines, ...options } = createOptions()
  const upload = route('POST', '/', async (context) => context.json(await context.readJson()))
  await using app = await serve(createApp(options, [upload]))
  const leaving = new AbortController()
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"half":')),
    pull: () => new Promise((resolve) => setTimeout(resolve, 20)).then(() => leaving.abort()),
  })
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body, duplex: 'half', signal: leaving.signal } as const
  await fetch(app.url, init).catch(() => {})
  const lines = await readLines(1)
  deepEqual(
    lines.map(({ msg }) => msg),
    ['request completed'],
  )
})

test('a handler may throw anything: 500, and logged', async () => {
  const { readLines, ...options } = createOptions()
  await using app = await serve(createApp(options, [route('GET', '/', () => Promise.reject(null))]))
  equal((await fetch(app.url)).status, 500)
  const [failed] = await readLines(2)
  equal(failed?.level, ERROR)
})
