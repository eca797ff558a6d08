import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions, serve } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  await using app = await serve(createApp(createOptions(), status))
  const response = await fetch(`${app.url}/_/status`)
  deepEqual([response.status, await response.text()], [200, 'OK'])
  equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
})
