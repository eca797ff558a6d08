import { doesNotMatch, match } from 'node:assert/strict'
import { failingHandler } from '../src/faults/failing-handler.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('what a server does wrong when handlers fail is found', async () => {
  const findings = await findingsOf(failingHandler, 'fails-badly')
  match(findings, /throws \(GET \/throws\): the client sees the error: Error: secret/)
  match(findings, /rejects \(GET \/rejects\): 0 lines of the log have the id, not one\./)
  match(findings, /\(GET \/breaks\): the client got 200 as if the response was whole\./)
  match(findings, /\(GET \/breaks\/as\/a\/stream\): 2 lines of the log have the id, not one\./)
  match(findings, /\(GET \/hangs\): nothing has ended the response after 30000 ms\./)
  match(findings, /\(GET \/hangs\): the log does not tell the cause: \{"level":50,/)
  doesNotMatch(findings, /\/stalls/)
})

testDefect('a process that ends with its handler is found', async () => {
  const findings = await findingsOf(failingHandler, 'dies-of-a-handler')
  match(findings, /After a handler that throws, \/livez gives undefined\./)
  match(findings, /The process has ended with 1\./)
})
