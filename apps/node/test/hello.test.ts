import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { JSON_TEXT, PLAIN_TEXT } from '#shared/http/contract.ts'
import { hello } from '../src/hello.ts'
import { serve } from './serve.ts'

test('greets in text and in JSON', async () => {
  await using server = await serve(hello)
  const text = await fetch(`${server.url}/`)
  equal(text.status, 200)
  equal(text.headers.get('content-type'), PLAIN_TEXT)
  equal(await text.text(), 'Hello World!')
  const json = await fetch(`${server.url}/json`)
  equal(json.headers.get('content-type'), JSON_TEXT)
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  await using server = await serve(hello)
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await fetch(`${server.url}/hello/${name}`)
    equal(response.status, 200)
    equal(response.headers.get('content-type'), PLAIN_TEXT)
    equal(await response.text(), `Hello, ${decoded}!`)
  }
  for (const path of ['/hello/', '/hello/a/b']) equal((await fetch(server.url + path)).status, 404, path)
})
