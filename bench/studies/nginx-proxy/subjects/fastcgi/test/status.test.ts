import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createApp } from '../src/status.ts'
import { ask } from './ask.ts'
import { createOptions } from './options.ts'

test('says that it is well', async () => {
  const response = await ask(createApp(createOptions()), '/_/status')
  equal(response.status, 200)
  equal(response.headers['content-type'], PLAIN_TEXT)
  equal(String(response.body), 'OK')
})

test('has nothing else', async () => {
  for (const url of ['/', '/json', '/_/status/']) {
    const response = await ask(createApp(createOptions()), url)
    equal(response.status, 404)
    equal(response.headers['content-type'], PROBLEM_JSON)
  }
})
