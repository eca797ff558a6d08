import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createStatus as createApp } from './apps.ts'
import { serve } from './serve.ts'

test('says that it is well', async () => {
  await using server = await serve(createApp(createOptions()))
  const response = await server.client.get('/_/status')
  equal(response.status, 200)
  equal(response.headers['content-type'], PLAIN_TEXT)
  equal(response.text, 'OK')
})

test('has nothing else', async () => {
  await using server = await serve(createApp(createOptions()))
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await server.client.get(path)
    equal(response.status, 404)
    equal(response.headers['content-type'], PROBLEM_JSON)
  }
})
