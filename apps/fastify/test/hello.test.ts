import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'
import { createOptions } from './options.ts'

test('greets in text and in JSON', async () => {
  const app = createApp(createOptions(), hello)
  const text = await app.inject('/')
  equal(text.statusCode, 200)
  equal(text.headers['content-type'], 'text/plain; charset=utf-8')
  equal(text.payload, 'Hello World!')
  const json = await app.inject('/json')
  match(String(json.headers['content-type']), /^application\/json/)
  deepEqual(json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  const app = createApp(createOptions(), hello)
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await app.inject(`/hello/${name}`)
    equal(response.statusCode, 200)
    equal(response.headers['content-type'], 'text/plain; charset=utf-8')
    equal(response.payload, `Hello, ${decoded}!`)
  }
  for (const path of ['/hello/', '/hello/a/b']) {
    const { statusCode } = await app.inject(path)
    equal([400, 404].includes(statusCode), true, path)
  }
})
