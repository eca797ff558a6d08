import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions, serve } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

test('greets in text and in JSON', async () => {
  await using app = await serve(createApp(createOptions(), hello))
  const text = await fetch(app.url)
  equal(text.headers.get('content-type'), 'text/plain; charset=utf-8')
  equal(await text.text(), 'Hello World!')
  const json = await fetch(`${app.url}/json`)
  equal(json.headers.get('content-type'), 'application/json')
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  await using app = await serve(createApp(createOptions(), hello))
  equal(await (await fetch(`${app.url}/hello/Zo%C3%AB`)).text(), 'Hello, Zoë!')
  for (const path of ['/hello/', '/hello/a/b']) equal((await fetch(app.url + path)).status, 404, path)
})
