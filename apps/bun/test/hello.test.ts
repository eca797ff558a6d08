import { test } from 'bun:test'
import { deepEqual, equal, match } from 'node:assert/strict'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'
import { createOptions } from './options.ts'
import { serve } from './serve.ts'

test('greets in text and in JSON', async () => {
  await using server = await serve(createApp(createOptions(), hello))
  const text = await fetch(`${server.url}/`)
  equal(text.status, 200)
  match(text.headers.get('content-type') ?? '', /^text\/plain; ?charset=utf-8$/)
  equal(await text.text(), 'Hello World!')
  const json = await fetch(`${server.url}/json`)
  match(json.headers.get('content-type') ?? '', /^application\/json/)
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  await using server = await serve(createApp(createOptions(), hello))
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await fetch(`${server.url}/hello/${name}`)
    equal(response.status, 200)
    match(response.headers.get('content-type') ?? '', /^text\/plain; ?charset=utf-8$/)
    equal(await response.text(), `Hello, ${decoded}!`)
  }
  for (const path of ['/hello/', '/hello/a/b']) {
    const { status } = await fetch(server.url + path)
    equal([400, 404].includes(status), true, path)
  }
})

test('HEAD is GET without the body', async () => {
  await using server = await serve(createApp(createOptions(), hello))
  for (const path of ['/', '/json', '/hello/Ada']) {
    const get = await fetch(server.url + path)
    const head = await fetch(server.url + path, { method: 'HEAD' })
    equal(head.status, 200)
    equal(head.headers.get('content-type'), get.headers.get('content-type'))
    equal(await head.text(), '')
  }
})
