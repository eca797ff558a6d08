import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const { statusCode, headers, payload } = await createApp(createOptions(), status).inject('/_/status')
  equal(statusCode, 200)
  equal(headers['content-type'], 'text/plain; charset=utf-8')
  equal(payload, 'OK')
})
