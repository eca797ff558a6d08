import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { fileDescriptors, judgeWatch } from '../src/faults/file-descriptors.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that fails without descriptors is found', async () => {
  const findings = await findingsOf(fileDescriptors, 'spins-on-accept')
  match(findings, /Without descriptors, requests on an open connection got the status 500\./)
})

test('a server that spins, and one that logs every failure, are found', () => {
  const good = { cpu: 0.5, lines: 10, statuses: [200, 200] }
  deepEqual(judgeWatch(good, false), [])
  deepEqual(judgeWatch({ ...good, cpu: 0.51 }, false), ['It used 51 % of a core to fail to accept.'])
  deepEqual(judgeWatch({ ...good, cpu: 0.51 }, true), [])
  deepEqual(judgeWatch({ ...good, lines: 11 }, false), ['It said 11 lines per second about it.'])
})
