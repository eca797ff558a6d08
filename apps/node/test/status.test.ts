import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { status } from '../src/status.ts'
import { serve } from './serve.ts'

test('says that it is well', async () => {
  await using server = await serve(status)
  const response = await fetch(`${server.url}/_/status`)
  equal(response.status, 200)
  equal(response.headers.get('content-type'), PLAIN_TEXT)
  equal(await response.text(), 'OK')
})

test('has nothing else', async () => {
  await using server = await serve(status)
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await fetch(server.url + path)
    equal(response.status, 404)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
  }
})
