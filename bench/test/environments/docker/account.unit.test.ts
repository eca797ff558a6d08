import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Sample } from '@startgrid/machine/accounts/sample.ts'
import {
  compareReadings,
  cpuSecondsOf,
  type Reading,
  sumPeaks,
  visibleProcesses,
} from '../../../src/environments/docker/account.ts'

const UNSEEN: Sample = {
  at: 0,
  app: undefined,
  proxy: new Map(),
  generator: undefined,
  serverCore: undefined,
  generatorCore: undefined,
  uncertainty: 0,
  isApart: false,
  interrupts: 0,
}
const OWN = { cpuSeconds: 0.9, waitSeconds: 0.2 }

/** One second between them. */
function compare(before: Partial<Reading>, after: Partial<Reading>, interrupts = 0) {
  const nothing = { app: 0, proxy: 0, generator: 0 }
  return compareReadings(
    { ...nothing, kernel: UNSEEN, ...before },
    { ...nothing, kernel: { ...UNSEEN, at: 1000, interrupts }, ...after },
    OWN,
  )
}

describe('CPU of containers', () => {
  test('is in nanoseconds, as the engine has it of a running container', () => {
    const stats = { cpu_stats: { cpu_usage: { total_usage: 337_739_858, usage_in_kernelmode: 90_000_000 } } }
    assert.equal(cpuSecondsOf(stats), 0.337739858)
  })

  test('is unknown of one that has ended', () => {
    assert.equal(cpuSecondsOf({ cpu_stats: { cpu_usage: { total_usage: 0 } } }), null)
  })

  test('is told apart for app, proxy and generator', () => {
    const { cpuSeconds } = compare(
      { app: 1, proxy: 2, generator: 3 },
      { app: 1.5, proxy: 2.25, generator: 4 },
    )
    assert.deepEqual(cpuSeconds, { app: 0.5, proxy: 0.25, generator: 1 })
  })

  test('is unknown if one of two readings is', () => {
    const { cpuSeconds } = compare({ app: 1, generator: 3 }, { app: null, generator: 3.5 })
    assert.deepEqual(cpuSeconds, { app: null, proxy: 0, generator: 0.5 })
  })

  test('includes interrupts that are in nobody’s account, by what each used', () => {
    const { cpuSeconds } = compare({}, { app: 0.6, proxy: 0.2 }, 0.2)
    assert.deepEqual(cpuSeconds, { app: 0.75, proxy: 0.25, generator: 0 })
  })
})

describe('what others used', () => {
  test('is unknown where this machine does not see the processes, but for the generator’s own wait', () => {
    assert.deepEqual(compare({}, { app: 0.5 }).disturbance, {
      serverWait: null,
      generatorWait: 0.2,
      serverForeign: null,
      generatorForeign: null,
    })
  })

  test('is not looked for in a process that only has the same number', () => {
    assert.equal(visibleProcesses('0123456789abcdef', process.pid), undefined)
    assert.equal(visibleProcesses('0123456789abcdef', 2 ** 22 + 1), undefined)
  })
})

describe('peak memory', () => {
  /** `cat /proc/[0-9]*​/status` in a container, shortened: init, NGINX with a worker, and what `docker exec` runs. */
  const STATUSES = [
    [1, 0, 708],
    [30, 0, 1864],
    [31, 30, 1900],
    [7, 1, 9000],
    [8, 7, 6000],
  ]
    .map(
      ([pid, parent, kB]) => `Name:\tx\nUmask:\t0022\nPid:\t${pid}\nPPid:\t${parent}\nVmHWM:\t    ${kB} kB\n`,
    )
    .join('')

  test('is that of the processes that serve, without init and the health check', () => {
    assert.equal(sumPeaks(STATUSES), 15_000 * 1024)
  })

  test('is unknown if nothing serves', () => {
    assert.equal(sumPeaks(''), null)
    assert.equal(sumPeaks('Name:\tx\nPid:\t30\nPPid:\t0\nVmHWM:\t    1864 kB\n'), null)
  })
})
