import { match } from 'node:assert/strict'
import { pipelining } from '../src/faults/pipelining.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that handles all requests of a connection at once is found', async () => {
  const findings = await findingsOf(pipelining, 'waits-forever', 'ssr')
  // A process that collects garbage all the time may also be too slow to respond.
  match(
    findings,
    /It took \d+ MB for 2000 requests on one connection\.|The process ended with |gives no response afterwards/,
  )
})
