import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'
import { createOptions } from './options.ts'

test('says that it is well', async () => {
  const app = createApp(createOptions(), status)
  const response = await app.inject('/_/status')
  equal(response.statusCode, 200)
  equal(response.headers['content-type'], PLAIN_TEXT)
  equal(response.payload, 'OK')
})

test('has nothing else', async () => {
  const app = createApp(createOptions(), status)
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await app.inject(path)
    equal(response.statusCode, 404)
    match(String(response.headers['content-type']), /^application\/problem\+json/)
  }
})
