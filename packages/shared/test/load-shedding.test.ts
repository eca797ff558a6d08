import { deepEqual } from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { waitsTooLong } from '../src/load-shedding.ts'

/** Fills the turn of the event loop with the clock of the test. */
async function setUp(t: { mock: { method: typeof import('node:test').mock.method } }) {
  await nextTurn()
  const clock = { ms: 1_000 }
  t.mock.method(globalThis.performance, 'now', () => clock.ms)
  return clock
}

/** Of the event loop. */
const countTurns = () => performance.nodeTiming.uvMetricsInfo.loopCount

test('after 10 ms in a turn the others wait, in their order, one per turn', async (t) => {
  const clock = await setUp(t)
  await waitsTooLong(250)
  clock.ms += 11
  const order: number[] = []
  const turns = new Set<number>()
  await Promise.all(
    [1, 2, 3].map(async (number) => {
      await waitsTooLong(250)
      order.push(number)
      turns.add(countTurns())
    }),
  )
  deepEqual([order, turns.size], [[1, 2, 3], 3])
})

test('who waited longer than allowed is told', async (t) => {
  const clock = await setUp(t)
  await waitsTooLong(250)
  clock.ms += 11
  const waiting = [waitsTooLong(250), waitsTooLong(1_000)]
  clock.ms += 251
  deepEqual(await Promise.all(waiting), [true, false])
})

test('what is quick does not wait, and with 0 nobody does', async (t) => {
  const clock = await setUp(t)
  const turn = countTurns()
  const quick = await Promise.all([waitsTooLong(250), waitsTooLong(250), waitsTooLong(250)])
  clock.ms += 1_000
  const never = waitsTooLong(0)
  clock.ms += 1_000
  deepEqual([...quick, await never, countTurns()], [false, false, false, false, turn])
})
