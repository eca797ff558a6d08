import { match } from 'node:assert/strict'
import { fileDescriptors } from '../src/faults/file-descriptors.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that spins and fails without descriptors is found', async () => {
  const findings = await findingsOf(fileDescriptors, 'spins-on-accept')
  match(findings, /Without descriptors, a connection that was open was answered 500\./)
  match(findings, /It used \d+ % of a core to fail to accept\./)
  match(findings, /It said \d+ lines per second about it\./)
})
