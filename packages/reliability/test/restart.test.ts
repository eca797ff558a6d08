import assert from 'node:assert/strict'
import { restart } from '../src/faults/restart.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('an app that SIGTERM just ends', async () => {
  const found = await findingsOf(restart, 'ends-by-signal')
  assert.match(found, /^bad\/ends-by-signal ended with a signal; it should end with 0\./m)
})

testDefect('an app that refuses everybody while it drains', async () => {
  const found = await findingsOf(restart, 'refuses-while-draining')
  assert.match(found, /^Requests failed while the apps were restarted in turn, or .*: GET \/json: 503 /m)
})
