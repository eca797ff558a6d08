import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const { statusCode, headers, payload } = await createApp(createOptions(), status).inject('/_/status')
  equal(statusCode, 200)
  equal(headers['content-type'], PLAIN_TEXT)
  equal(payload, 'OK')
})
