import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readThrottling } from '../../src/accounts/throttling.ts'
import { createTree } from '../kernel-tree.ts'

/** cpu.stat of a container with a limit, as kernels write it. */
const VERSION_1 = 'nr_periods 41\nnr_throttled 3\nthrottled_time 205000000\n'
const VERSION_2 = `usage_usec 2117043
user_usec 1850274
system_usec 266769
nice_usec 0
core_sched.force_idle_usec 0
nr_periods 41
nr_throttled 3
throttled_usec 205000
nr_bursts 0
burst_usec 0
`
const WITHOUT_LIMIT = VERSION_2.slice(0, VERSION_2.indexOf('nr_periods'))

for (const [version, path, text] of [
  ['1', 'cpu/cpu.stat', VERSION_1],
  ['1, with its real directory', 'cpu,cpuacct/cpu.stat', VERSION_1],
  ['2', 'cpu.stat', VERSION_2],
] as const) {
  test(`throttling is read from control groups of version ${version}`, (context) => {
    const found = readThrottling(createTree({ [path]: text }, context))
    assert.deepEqual(found, { times: 3, seconds: 0.205 })
  })
}

test('a group without a limit is never throttled', (context) => {
  assert.doesNotMatch(WITHOUT_LIMIT, /throttled/)
  assert.deepEqual(readThrottling(createTree({ 'cpu.stat': WITHOUT_LIMIT }, context)), {
    times: 0,
    seconds: 0,
  })
})

test('nothing is known of a group that cannot be read', (context) => {
  assert.equal(readThrottling(createTree({ 'memory.stat': '' }, context)), undefined)
})
