import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

const app = createApp(createOptions(), hello)

test('greets in text and in JSON', async () => {
  const text = await app.inject('/')
  deepEqual([text.statusCode, text.payload], [200, 'Hello World!'])
  equal(text.headers['content-type'], 'text/plain; charset=utf-8')
  deepEqual((await app.inject('/json')).json(), { hello: 'world' })
})

test('greets by name', async () => {
  equal((await app.inject('/hello/Zo%C3%AB')).payload, 'Hello, Zoë!')
  equal((await app.inject('/hello/')).statusCode, 400)
})
