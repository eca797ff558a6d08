import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nginxReload } from '../src/faults/nginx-reload.ts'
import { findingsOf } from './bad-subject.ts'

test('an answer that is wrong at times', async () => {
  const found = await findingsOf(nginxReload, 'fails-at-times')
  assert.match(found, /^Requests failed during reloads: GET \/json: 500 \(\d+ times\)\. \d+ were answered\.$/)
})
