import { match } from 'node:assert/strict'
import { slowClients } from '../src/faults/slow-clients.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that waits forever is found, once for each way of being slow', async () => {
  const findings = await findingsOf(slowClients, 'waits-forever', 'ssr')
  match(
    findings,
    /45 s after 45 clients came, 45 connections or files of theirs are open: headers at 1 byte\/s\./,
  )
  match(
    findings,
    /90 s after 45 clients came, 45 connections or files of theirs are open: body at 1 byte\/s\./,
  )
  match(
    findings,
    /90 s after 10 clients came, \d+ connections or files of theirs are open: reading at 1 byte\/s\./,
  )
})
