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

test('not ready if a check rejects, throws, or says no, which is logged', async () => {
  const throws = () => {
    throw new Error('no')
  }
  const failing: [Check, message: string | undefined][] = [
    [() => Promise.reject(new Error('no')), 'no'],
    [throws, 'no'],
    [() => false, undefined],
    [async () => false, undefined],
  ]
  for (const [check, message] of failing) {
    const { health, lines } = recordHealth()
    equal(await health.isReady(), true)
    health.addCheck('cache', async () => 'pong')
    equal(await health.isReady(), true)
    health.addCheck('database', check)
    equal(await health.isReady(), false)
    deepEqual(lines, [['not ready', 'database', message]])
  }
})

test('checks run at the same time; not ready if draining begins meanwhile', async () => {
  const { health } = recordHealth()
  const { promise, resolve } = Promise.withResolvers<void>()
  health.addCheck('waits for the second', () => promise)
  health.addCheck('second', () => resolve())
  equal(await health.isReady(), true)
  const ready = health.isReady()
  health.drain()
  deepEqual([await ready, health.signal.aborted], [false, true])
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
