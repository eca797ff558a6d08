import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { judgeWatch } from '../src/faults/file-descriptors.ts'

test('a server that spins, and one that logs every failure, are found', () => {
  const good = { cpu: 0.5, lines: 10, statuses: [200, 200] }
  deepEqual(judgeWatch(good, false), [])
  deepEqual(judgeWatch({ ...good, cpu: 0.51 }, false), ['It used 51 % of a core to fail to accept.'])
  deepEqual(judgeWatch({ ...good, cpu: 0.51 }, true), [])
  deepEqual(judgeWatch({ ...good, lines: 11 }, false), ['It said 11 lines per second about it.'])
})
