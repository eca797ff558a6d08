import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

const app = createApp(createOptions(), hello)

test('greets in text and in JSON', async () => {
  equal(await (await app.request('/')).text(), 'Hello World!')
  deepEqual(await (await app.request('/json')).json(), { hello: 'world' })
})

test('greets by name', async () => {
  equal(await (await app.request('/hello/Zo%C3%AB')).text(), 'Hello, Zoë!')
  equal((await app.request('/hello/')).status, 404)
})

test("Hono's client knows the types of the routes", async () => {
  const response = await testClient(hello).hello[':name'].$get({ param: { name: 'Ada' } })
  const text: `Hello, ${string}!` = await response.text()
  equal(text, 'Hello, Ada!')
})
