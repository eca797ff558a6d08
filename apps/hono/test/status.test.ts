import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const response = await testClient(createApp(createOptions(), status))._.status.$get()
  equal(await response.text(), 'OK')
})
