import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions, serve } from '#shared/testing/app.ts'
import { testOnNode } from '../../../packages/shared/test/app.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, [], ssr, ['/late/amid', 'data', /secret/])

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
  const said = (await readLines(1)).map(({ msg }) => msg)
  deepEqual(said, ['request completed'])
})
