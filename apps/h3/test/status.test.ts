import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const response = await createApp(createOptions(), status).request('/_/status')
  equal(await response.text(), 'OK')
})
