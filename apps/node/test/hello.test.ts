import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

test('greets in text and in JSON', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, hello), options)
  const text = await fetch(server.url)
  equal(text.headers.get('content-type'), 'text/plain; charset=utf-8')
  equal(await text.text(), 'Hello World!')
  const json = await fetch(`${server.url}/json`)
  equal(json.headers.get('content-type'), 'application/json; charset=utf-8')
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, hello), options)
  equal(await (await fetch(`${server.url}/hello/Zo%C3%AB`)).text(), 'Hello, Zoë!')
  for (const path of ['/hello/', '/hello/a/b']) equal((await fetch(server.url + path)).status, 404, path)
})
