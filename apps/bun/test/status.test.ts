import { expect, test } from 'bun:test'
import { createOptions } from '#shared/testing/app.ts'
import { status } from '../src/status.ts'
import { serve } from './serve.ts'

test('says OK', async () => {
  await using app = await serve(createOptions(), status)
  const response = await fetch(`${app.url}/_/status`)
  expect([response.status, await response.text()]).toEqual([200, 'OK'])
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; ?charset=utf-8$/)
})
