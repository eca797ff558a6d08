import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTwice, restart } from '../src/faults/restart.ts'
import { findingsOf } from './bad-subject.ts'

test('an app that SIGTERM just ends', async () => {
  const found = await findingsOf(restart, 'ends-by-signal')
  assert.match(found, /^bad\/ends-by-signal ended with a signal; it should end with 0\.$/m)
})

test('an app that refuses everybody while it drains', async () => {
  const found = await findingsOf(restart, 'refuses-while-draining')
  assert.match(found, /^Requests failed while the apps were restarted in turn, or .*: GET \/json: 503 /m)
})

test('POSTs that two copies, or one of them twice, have answered', () => {
  const [first, second] = ['{"id":"post-1","msg":"answered"}', '{"id":"get-1"}\n{"id":"post-2"}\n']
  assert.deepEqual(findTwice([first, second]), [])
  assert.deepEqual(findTwice([first, `${second}${first}`]), ['NGINX sent 1 of 3 POSTs again.'])
  assert.deepEqual(findTwice(['', '']), ['No copy has logged a POST.'])
})
