import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const options = createOptions()
  await using server = await serve(createApp(options, status), options)
  const response = await fetch(`${server.url}/_/status`)
  deepEqual([response.status, await response.text()], [200, 'OK'])
  equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
})
