import { doesNotMatch, match } from 'node:assert/strict'
import { uncaught } from '../src/faults/uncaught.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that ends at once is found: it cuts what it has begun, and logs no line', async () => {
  const findings = await findingsOf(uncaught, 'ends-at-once', 'ssr')
  match(findings, /After an uncaught exception a response under way is cut\./)
  match(findings, /After an unhandled rejection a response under way is cut\./)
  match(findings, /0 lines of level 60 tell of an uncaught exception, not one/)
  doesNotMatch(findings, /ends with/)
})

testDefect('a server that carries on is found', async () => {
  const findings = await findingsOf(uncaught, 'carries-on')
  match(findings, /After an uncaught exception it ends with nothing: it goes on, not with 1\./)
  match(findings, /After an unhandled rejection it ends with nothing: it goes on, not with 1\./)
  match(findings, /It cannot be started again: /)
})
