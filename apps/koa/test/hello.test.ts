import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import request from 'supertest'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'
import { createOptions } from './options.ts'

test('greets in text and in JSON', async () => {
  const app = createApp(createOptions(), hello).callback()
  await request(app).get('/').expect(200, 'Hello World!').expect('content-type', 'text/plain; charset=utf-8')
  const json = await request(app).get('/json')
  match(json.headers['content-type'] ?? '', /^application\/json/)
  deepEqual(json.body, { hello: 'world' })
})

test('greets by name', async () => {
  const app = createApp(createOptions(), hello).callback()
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await request(app).get(`/hello/${name}`)
    equal(response.status, 200)
    equal(response.headers['content-type'], 'text/plain; charset=utf-8')
    equal(response.text, `Hello, ${decoded}!`)
  }
})

test('paths are exact', async () => {
  const app = createApp(createOptions(), hello).callback()
  for (const path of ['/hello/', '/hello/a/b', '/hello/Ada/', '/JSON', '/json/'])
    await request(app).get(path).expect(404)
})
