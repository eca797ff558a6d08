import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

const app = createApp(createOptions(), hello)

test('greets in text and in JSON', async () => {
  const client = testClient(app)
  equal(await (await client.index.$get()).text(), 'Hello World!')
  const json: { hello: string } = await (await client.json.$get()).json()
  deepEqual(json, { hello: 'world' })
})

test('greets by name', async () => {
  const response = await testClient(app).hello[':name'].$get({ param: { name: 'Zoë' } })
  const text: `Hello, ${string}!` = await response.text()
  equal(text, 'Hello, Zoë!')
  equal((await app.request('/hello/')).status, 404)
})
