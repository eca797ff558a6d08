import { match } from 'node:assert/strict'
import { limits } from '../src/faults/limits.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that takes everything and keeps it is found', async () => {
  const findings = await findingsOf(limits, 'keeps-everything')
  match(findings, /Directly, a body over the limit: 200, not 404 or 405 or 413 or closed\./)
  match(findings, /Directly, a body of a terabyte, announced: 200, not 404 or 405 or 413\./)
  match(findings, /Directly, a header over the limit: 200, not 431 or closed\./)
  match(findings, /It held \d+(\.\d)? MB more after \d+ requests over the limits\./)
})
