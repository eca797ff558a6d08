import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

const app = createApp(createOptions(), hello)

test('greets in text and in JSON', async () => {
  const response = await app.request('/')
  equal(await response.text(), 'Hello World!')
  match(response.headers.get('content-type') ?? '', /^text\/plain; ?charset=utf-8$/i)
  deepEqual(await (await app.request('/json')).json(), { hello: 'world' })
})

test('greets by name', async () => {
  equal(await (await app.request('/hello/Zo%C3%AB')).text(), 'Hello, Zoë!')
  equal((await app.request('/hello/')).status, 404)
})
