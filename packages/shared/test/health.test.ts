import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { type Check, Health } from '../src/health.ts'

function recordHealth() {
  const lines: unknown[] = []
  const write = (text: string) => {
    const { msg, check, err } = JSON.parse(text)
    lines.push([msg, check, err?.message])
  }
  return { health: new Health(pino({ level: 'info' }, { write })), lines }
}

test('ready without checks, and not while draining', async () => {
  const { health } = recordHealth()
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
for (const [what, check] of FAILING)
  test(`not ready if a check ${what}, which is logged`, async () => {
    const { health, lines } = recordHealth()
    health.addCheck('cache', async () => 'pong')
    equal(await health.isReady(), true)
    health.addCheck('database', check)
    equal(await health.isReady(), false)
    deepEqual(lines, [['not ready', 'database', /returns|resolves/.test(what) ? undefined : 'no']])
  })

test('checks run at the same time', async () => {
  const { health } = recordHealth()
  const { promise, resolve } = Promise.withResolvers<void>()
  health.addCheck('waits for the second', () => promise)
  health.addCheck('second', () => resolve())
  equal(await health.isReady(), true)
})

test('a check that does not respond is told to end, and fails', async () => {
  const { health } = recordHealth()
  const signals: AbortSignal[] = []
  health.addCheck('database', (signal) => {
    signals.push(signal)
    return new Promise(() => {})
  })
  const alive = setInterval(() => {}, 1_000) // as a server would: the time of a check does not keep the process alive
  equal(await health.isReady(), false)
  clearInterval(alive)
  equal(signals[0]?.aborted, true)
})

test('not ready if draining begins while a check runs', async () => {
  const { health } = recordHealth()
  const { promise, resolve } = Promise.withResolvers<void>()
  health.addCheck('database', () => promise)
  const ready = health.isReady()
  health.drain()
  resolve()
  equal(await ready, false)
})

test('what is to be closed is closed one after the other, the newest first', async () => {
  const { health } = recordHealth()
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
