import assert from 'node:assert/strict'
import { refusedStart } from '../src/faults/refused-start.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('an app that starts whatever it is told', async () => {
  const found = await findingsOf(refusedStart, 'takes-any-port')
  assert.match(found, /^With a port that is taken it starts\.$/m)
  assert.match(found, /^With PORT=99999 it starts\.$/m)
  assert.match(found, /^As role 'nobody' it starts\.$/m)
})

testDefect('an app that shows a stack', async () => {
  const found = await findingsOf(refusedStart, 'throws-at-start')
  assert.match(found, /^With PORT=99999 it does not end with one sentence and 1: .+\n[\s\S]+^\s+at /m)
})

testDefect('pages that are served without their files', async () => {
  const found = await findingsOf(refusedStart, 'takes-any-port', 'ssr')
  assert.match(found, /^Without the page's files it starts\.$/m)
  assert.match(found, /^Without a build it starts\.$/m)
})
