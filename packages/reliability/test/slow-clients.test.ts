import { match } from 'node:assert/strict'
import { test } from 'node:test'
import { slowClients } from '../src/faults/slow-clients.ts'
import { findingsOf } from './bad-subject.ts'

test('a server that waits forever is found, once for each way of being slow', async () => {
  const findings = await findingsOf(slowClients, 'waits-forever')
  match(findings, /After 45 s 45 of 45 clients are still connected: headers at 1 byte\/s\./)
  match(findings, /After 90 s 45 of 45 clients are still connected: body at 1 byte\/s\./)
  match(findings, /After 90 s \d+ of 6 clients are still connected: reading at 1 byte\/s\./)
})
