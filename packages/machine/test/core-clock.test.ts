import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { findCoreClock, readCpuTime, readInterrupts } from '../src/core-clock.ts'
import { createTree } from './kernel-tree.ts'

// user nice system idle iowait irq softirq steal guest guest_nice
const STAT =
  'cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1000 20 300 5000 6 70 80 90 0 0\ncpu1 2000 0 0 0 0 0 0 0 0 0\ncpu10 1 1 1 1 1 1 1 1 1 1\n'

// Version 15; the seventh figure after the name is nanoseconds of running tasks.
const SCHEDSTAT =
  'version 15\ntimestamp 4295\ncpu0 0 0 11 12 13 14 2500000000 16 17\ndomain0 3 1 2\ncpu1 0 0 0 0 0 0 1500000000 0 0\n'

const config = (apart: boolean) =>
  gzipSync(
    `CONFIG_HZ=250\n${apart ? 'CONFIG_IRQ_TIME_ACCOUNTING=y' : '# CONFIG_IRQ_TIME_ACCOUNTING is not set'}\n`,
  )

const GROUP = 'sys/fs/cgroup/cpu,cpuacct/'

test('the root control group tells the nanoseconds of every core', (t) => {
  const files = {
    [`${GROUP}cpuacct.usage_percpu`]: '1500000000 2000000000 \n',
    [`${GROUP}release_agent`]: '',
  }
  const clock = findCoreClock(createTree({ ...files, 'proc/schedstat': SCHEDSTAT, 'proc/stat': STAT }, t))
  assert.deepEqual([clock.uncertainty, clock.isApart], [0, false])
  assert.deepEqual([clock.read([0]), clock.read([0, 1]), clock.read([2])], [1.5, 3.5, undefined])
})

test('schedstat tells nanoseconds of running tasks; interrupts that the kernel keeps apart are taken off, at their precision', (t) => {
  const clockOf = (apart: boolean) =>
    findCoreClock(
      createTree({ 'proc/schedstat': SCHEDSTAT, 'proc/stat': STAT, 'proc/config.gz': config(apart) }, t),
    )
  const clock = clockOf(false)
  assert.deepEqual([clock.uncertainty, clock.isApart], [0, false])
  assert.deepEqual([clock.read([0]), clock.read([1, 0]), clock.read([7])], [2.5, 4, undefined])
  const apart = clockOf(true)
  assert.deepEqual([apart.uncertainty, apart.isApart, apart.read([0])], [0.01, true, 2.5 - 1.5])
})

test('where no nanoseconds are told there is no clock; inside a container, the group counts only that', (t) => {
  for (const files of [{}, { [`${GROUP}cpuacct.usage_percpu`]: '1 2\n' }]) {
    const clock = findCoreClock(createTree({ ...files, 'proc/stat': STAT }, t))
    assert.deepEqual([clock.read([0]), clock.uncertainty], [undefined, Number.POSITIVE_INFINITY])
  }
})

test('the columns of /proc/stat are seconds, cpu1 is not cpu10', (t) => {
  const root = createTree({ 'proc/stat': STAT }, t)
  const times = (['irq', 'softirq', 'steal'] as const).map((way) => readCpuTime([0], way, root)?.toFixed(3))
  assert.deepEqual(times, ['0.700', '0.800', '0.900'])
  assert.deepEqual([readInterrupts([0], root).toFixed(3), readInterrupts([1], root)], ['1.500', 0])
  const offline = createTree({ 'proc/stat': STAT.replace(/^cpu1 .*\n/m, '') }, t)
  assert.equal(readCpuTime([1], 'irq', offline), undefined, 'cpu10 is another one')
})
