import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '../src/status.ts'
import { send } from './fake-request.ts'

test('GET /_/status', async () => {
  const { headers, body } = await send(status, '/_/status')
  deepEqual([headers['content-type'], body], ['text/plain; charset=utf-8', 'OK'])
  equal((await send(status, '/')).status, 404)
})
