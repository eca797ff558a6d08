import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'
import { createOptions } from './options.ts'

test('says that it is well', async () => {
  const app = createApp(createOptions(), status)
  const response = await app.request('/_/status')
  equal(response.status, 200)
  match(response.headers.get('content-type') ?? '', /^text\/plain; charset=utf-8$/i)
  equal(await response.text(), 'OK')
})

test('has nothing else', async () => {
  const app = createApp(createOptions(), status)
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await app.request(path)
    equal(response.status, 404)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
  }
})
