import assert from 'node:assert/strict'
import { sigterm } from '../src/faults/sigterm.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('an app that SIGTERM just ends', async () => {
  const found = await findingsOf(sigterm, 'ends-by-signal')
  assert.match(found, /^bad\/ends-by-signal ended with a signal; it should end with 0\./m)
})

testDefect('an app that ends with 0, and with all connections', async () => {
  const found = await findingsOf(sigterm, 'resets-at-sigterm')
  assert.match(
    found,
    /^\d+ of \d+ requests met a kept connection that was closed as idle while it drained\.$/m,
  )
  assert.match(found, /^Requests failed before readiness failed: GET \/json on a new connection: ECONN/m)
  assert.match(found, /^Requests failed behind NGINX, before readiness failed: GET \/json: 502/m)
})

testDefect('an app that refuses everybody while it drains', async () => {
  const found = await findingsOf(sigterm, 'refuses-while-draining')
  assert.match(found, /^Requests failed while it drained: GET \/json: 503 \(\d+ times\)/m)
})

testDefect('an app that does not end at once at a second signal', async () => {
  const found = await findingsOf(sigterm, 'ignores-second-signal')
  assert.match(found, /^bad\/ignores-second-signal still runs 30 s after SIGTERM; it should end with 1\./m)
})
