import { deepEqual, equal, rejects } from 'node:assert/strict'
import { describe, mock, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type Check, Health } from '../../src/http/health.ts'

/** Its time passes only by `t.mock.timers.tick`. */
function recordHealth(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: unknown[] = []
  const write = (text: string) => {
    const { msg, check, err } = JSON.parse(text)
    lines.push([msg, check, err?.message])
  }
  return { health: new Health(pino({ level: 'info' }, { write })), lines }
}

describe('readiness', () => {
  test('passes without checks, and not while draining', async () => {
    const health = new Health()
    equal(await health.isReady(), true)
    health.drain()
    deepEqual([await health.isReady(), health.signal.aborted], [false, true])
  })

  const FAILING: [what: string, check: Check][] = [
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['returns false', () => false],
    ['resolves to false', async () => false],
  ]
  for (const [what, check] of FAILING) {
    test(`fails if a check ${what}`, async (t) => {
      const { health } = recordHealth(t)
      health.addCheck('cache', async () => 'pong')
      equal(await health.isReady(), true)
      t.mock.timers.tick(1_000)
      health.addCheck('database', check)
      equal(await health.isReady(), false)
    })
  }

  test('runs its checks at the same time', async (t) => {
    const { health } = recordHealth(t)
    const { promise, resolve } = Promise.withResolvers<void>()
    health.addCheck('waits for the second', () => promise)
    health.addCheck('second', () => resolve())
    equal(await health.isReady(), true)
  })

  test('runs its checks at most once per second, however often it is asked', async (t) => {
    const { health } = recordHealth(t)
    const check = mock.fn(async () => {})
    health.addCheck('database', check)
    deepEqual(await Promise.all([health.isReady(), health.isReady()]), [true, true])
    t.mock.timers.tick(999)
    equal(await health.isReady(), true)
    equal(check.mock.callCount(), 1)
    t.mock.timers.tick(1)
    equal(await health.isReady(), true)
    equal(check.mock.callCount(), 2)
  })

  test('fails, and aborts the check, if it does not respond within a second', async (t) => {
    const { health } = recordHealth(t)
    const signals: AbortSignal[] = []
    health.addCheck('database', (signal) => {
      signals.push(signal)
      return signals.length === 1 ? new Promise(() => {}) : undefined
    })
    const ready = health.isReady()
    t.mock.timers.tick(999)
    equal(signals[0]?.aborted, false)
    t.mock.timers.tick(1)
    deepEqual([await ready, signals[0]?.aborted], [false, true])
    equal(await health.isReady(), true)
  })

  test('does not pass if draining begins while a check runs', async (t) => {
    const { health } = recordHealth(t)
    const { promise, resolve } = Promise.withResolvers<void>()
    health.addCheck('database', () => promise)
    const ready = health.isReady()
    health.drain()
    resolve()
    equal(await ready, false)
  })

  test('logs when a check begins to fail, and when it passes again, and nothing between', async (t) => {
    const { health, lines } = recordHealth(t)
    const error = new Error('down')
    const outcomes = [null, error, error, null, null]
    health.addCheck('database', async () => {
      const outcome = outcomes.shift()
      if (outcome) throw outcome
    })
    while (outcomes.length > 0) {
      await health.isReady()
      t.mock.timers.tick(1_000)
    }
    deepEqual(lines, [
      ['check fails', 'database', 'down'],
      ['check passes again', 'database', undefined],
    ])
  })
})

describe('closing', () => {
  test('runs the callbacks one after the other, newest first', async () => {
    const health = new Health()
    const steps: string[] = []
    health.onClose(() => steps.push('database'))
    health.onClose(async () => {
      steps.push('queue begins')
      await Promise.resolve()
      steps.push('queue ends')
    })
    await health.close()
    deepEqual(steps, ['queue begins', 'queue ends', 'database'])
  })

  test('runs the others if one fails, and reports it', async () => {
    const health = new Health()
    const database = mock.fn()
    const error = new Error('no')
    health.onClose(database)
    health.onClose(() => Promise.reject(error))
    await rejects(health.close(), { name: 'AggregateError', errors: [error] })
    equal(database.mock.callCount(), 1)
  })
})
