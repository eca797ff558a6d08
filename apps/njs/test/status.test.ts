import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import app from '../src/status.ts'
import { ask } from './fake-request.ts'

test('GET /_/status', () => {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  deepEqual(ask(app, '/_/status'), { status: 200, headers, body: 'OK', errors: [] })
  equal(ask(app, '/').status, 404)
})
