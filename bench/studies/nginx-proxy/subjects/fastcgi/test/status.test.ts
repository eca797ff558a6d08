import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createApp } from '../src/status.ts'
import { ask } from './ask.ts'
import { createOptions } from './options.ts'

test('says that it is well', async () => {
  const answer = await ask(createApp(createOptions()), '/_/status')
  equal(answer.status, 200)
  equal(answer.headers['content-type'], PLAIN_TEXT)
  equal(String(answer.body), 'OK')
})

test('has nothing else', async () => {
  for (const url of ['/', '/json', '/_/status/']) {
    const answer = await ask(createApp(createOptions()), url)
    equal(answer.status, 404)
    equal(answer.headers['content-type'], PROBLEM_JSON)
  }
})
