import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareSamples, type Sample } from '../../src/accounts/sample.ts'
import type { ProcessAccount } from '../../src/accounts/threads.ts'

/** What follows from given samples; in sample.test.ts real processes are measured. */

const APP = 100
const PROXY = 200
const GENERATOR = 300

/** Seconds on a CPU and seconds of waiting, thread by thread, the main one first. */
function process(pid: number, ...threads: [number, number][]): [number, ProcessAccount] {
  const accounts = threads.map(
    ([onCpu, waiting], index) =>
      [String(pid + index), { onCpu: onCpu * 1e9, waiting: waiting * 1e9 }] as const,
  )
  return [pid, new Map(accounts)]
}

const NOTHING: Sample = {
  at: 1000,
  app: new Map(),
  proxy: new Map(),
  generator: new Map(),
  serverCore: 10,
  generatorCore: 20,
  uncertainty: 0,
  isApart: false,
  interrupts: 0,
}

/** One second later. */
const compare = (after: Partial<Sample>, before: Partial<Sample> = {}) =>
  compareSamples({ ...NOTHING, ...before }, { ...NOTHING, at: 2000, ...after })

const near = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

describe('waiting', () => {
  test('for one’s own helper threads is no disturbance', () => {
    const app = new Map([process(APP, [0.7, 0.3], [0.2, 0.5], [0.1, 0.6])])
    near(compare({ app }).disturbance.serverWait, 0)
  })

  test('of the app for the proxy does not count, nor the other way round', () => {
    const app = new Map([process(APP, [0.6, 0.4])])
    const proxy = new Map([process(PROXY, [0.4, 0.6])])
    near(compare({ app, proxy }).disturbance.serverWait, 0)
  })

  test('is what is left of the longest wait: app and proxy wait for the same neighbour', () => {
    const app = new Map([process(APP, [0.5, 0.45])])
    const proxy = new Map([process(PROXY, [0.25, 0.7])])
    near(compare({ app, proxy }).disturbance.serverWait, 0.2)
  })

  test('of the generator is told apart from that of the servers', () => {
    const { disturbance } = compare({ generator: new Map([process(GENERATOR, [0.7, 0.3])]) })
    near(disturbance.generatorWait, 0.3)
    near(disturbance.serverWait, 0)
  })

  test('of a generator that polls includes stops of its core, which no other account shows', () => {
    const waitOf = (cpu: number, waited: number, pollingSeconds?: number, isApart = false) => {
      const after = { ...NOTHING, at: 2000, generator: new Map([process(GENERATOR, [cpu, waited])]), isApart }
      return compareSamples(NOTHING, after, pollingSeconds).disturbance.generatorWait
    }
    near(waitOf(0.6, 0, 0.95), 0.35)
    near(waitOf(0.6, 0.1, 0.95), 0.35)
    near(waitOf(0.6, 0.4, 0.95), 0.4)
    near(waitOf(0.99, 0.01, 0.95), 0.01)
    near(waitOf(0.6, 0), 0)
    // What it lacks may be the time of interrupts.
    near(waitOf(0.6, 0.1, 0.95, true), 0.1)
  })

  test('of several generators is that of the one whose core was taken most', () => {
    const generator = new Map([process(GENERATOR, [0.9, 0.1]), process(GENERATOR + 1, [0.6, 0.4])])
    const { disturbance } = compare({ generator, generatorCore: 20.95 })
    near(disturbance.generatorWait, 0.4)
    near(disturbance.generatorForeign, 0.05)
  })

  test('before the slice does not count', () => {
    const before = { app: new Map([process(APP, [5, 2])]) }
    const after = { app: new Map([process(APP, [5.9, 2.1])]) }
    near(compare(after, before).disturbance.serverWait, 0.1)
    near(compare(after, before).cpuSeconds.app, 0.9)
  })
})

describe('foreign CPU', () => {
  const app = new Map([process(APP, [0.6, 0])])
  const proxy = new Map([process(PROXY, [0.2, 0])])

  test('is what the core worked without us', () => {
    const { disturbance } = compare({ app, proxy, serverCore: 10.9, generatorCore: 20.25 })
    near(disturbance.serverForeign, 0.1)
    near(disturbance.generatorForeign, 0.25)
  })

  test('is only what is certain', () => {
    near(compare({ app, proxy, serverCore: 10.9, uncertainty: 0.04 }).disturbance.serverForeign, 0.06)
    near(compare({ app, proxy, serverCore: 10.75 }).disturbance.serverForeign, 0)
  })

  test('is at most everything', () => {
    near(compare({ serverCore: 12 }).disturbance.serverForeign, 1)
  })

  test('is unknown if the core or our own part is', () => {
    assert.equal(compare({ app, serverCore: undefined }).disturbance.serverForeign, null)
    assert.equal(compare({ app: undefined, serverCore: 11 }).disturbance.serverForeign, null)
  })
})

test('interrupts that the kernel keeps apart belong to those who caused them, in proportion', () => {
  const app = new Map([process(APP, [0.6, 0])])
  const proxy = new Map([process(PROXY, [0.2, 0])])
  const { cpuSeconds } = compare({ app, proxy, interrupts: 0.16 })
  near(cpuSeconds.app, 0.72)
  near(cpuSeconds.proxy, 0.24)
  assert.deepEqual(compare({ interrupts: 0.16 }).cpuSeconds, { app: 0, proxy: 0, generator: 0 })
})
