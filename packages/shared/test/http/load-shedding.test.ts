import { deepEqual, equal, ok } from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLoadShedder } from '../../src/http/load-shedding.ts'
import { createQueueWatch, STANDING_MS } from '../../src/http/overload.ts'

const MAX_WAIT_MS = 250
const OPEN = { closed: false }

/** A shedder whose clock stands still until a test moves it. */
function setUp(maxWaitMs = MAX_WAIT_MS) {
  const clock = { ms: 1000 }
  return { clock, shouldShed: createLoadShedder(maxWaitMs, () => clock.ms) }
}

test('what is quick is told at once', () => {
  const { shouldShed } = setUp()
  deepEqual([shouldShed(OPEN), shouldShed(OPEN), shouldShed(OPEN)], [false, false, false])
})

test('a turn that was long enough makes others wait, in the order in which they came', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed(OPEN)
  clock.ms += 11
  const order: number[] = []
  const told = [1, 2, 3].map(async (number) => {
    const isShed = await shouldShed(OPEN)
    order.push(number)
    return isShed
  })
  ok(shouldShed(OPEN) instanceof Promise)
  deepEqual(await Promise.all(told), [false, false, false])
  deepEqual(order, [1, 2, 3])
})

test('one is served per turn, so that others come between', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed(OPEN)
  clock.ms += 11
  const turns = await Promise.all(
    [1, 2, 3].map(async () => {
      await shouldShed(OPEN)
      return performance.nodeTiming.uvMetricsInfo.loopCount
    }),
  )
  equal(new Set(turns).size, 3)
})

test('after one pause of 400 ms with 20 requests waiting, nothing is shed', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed(OPEN)
  clock.ms += 11
  const told = Array.from({ length: 20 }, async () => {
    const isShed = await shouldShed(OPEN)
    clock.ms += 4 // the page is rendered
    return isShed
  })
  clock.ms += 400
  deepEqual(new Set(await Promise.all(told)), new Set([false]))
})

test('under standing overload it sheds what has waited for too long, and serves the rest', async () => {
  const { clock, shouldShed } = setUp()
  const pageMs = 5
  const ends: { waited: number; isShed: boolean }[] = []
  let arrivals = 0
  async function arrive(): Promise<void> {
    arrivals++
    const since = clock.ms
    const isShed = await shouldShed(OPEN)
    ends.push({ waited: clock.ms - since, isShed })
    if (isShed) return
    clock.ms += pageMs
    // Three requests come while one page is rendered.
    if (arrivals < 3000) await Promise.all([arrive(), arrive(), arrive()])
  }
  await arrive()
  const shed = ends.filter(({ isShed }) => isShed)
  const served = ends.filter(({ isShed }) => !isShed)
  equal(ends.length, arrivals)
  ok(shed.length > 1000)
  ok(shed.every(({ waited }) => waited > MAX_WAIT_MS))
  // A wait grows while the queue is being found to stand, and no further.
  ok(served.every(({ waited }) => waited <= MAX_WAIT_MS + STANDING_MS + 3 * pageMs))
})

test('a queue stands when no wait of the last 100 ms was short enough', () => {
  const isStanding = createQueueWatch(MAX_WAIT_MS)
  equal(isStanding(251, 0), false)
  equal(isStanding(400, 99), false)
  equal(isStanding(251, 100), true)
  equal(isStanding(250, 150), false)
  equal(isStanding(300, 160), false)
  equal(isStanding(300, 259), false)
  equal(isStanding(300, 260), true)
})

test('a client that leaves while it waits gets no page', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed(OPEN)
  clock.ms += 11
  const response = { closed: false }
  const told = [shouldShed(response), shouldShed(OPEN)]
  response.closed = true
  deepEqual(await Promise.all(told), [true, false])
})

test('begins afresh when the queue is empty', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed(OPEN)
  clock.ms += 1000
  await setImmediate()
  equal(shouldShed(OPEN), false)
})

test('with a limit of 0 nothing waits', () => {
  const { clock, shouldShed } = setUp(0)
  shouldShed(OPEN)
  clock.ms += 1000
  equal(shouldShed(OPEN), false)
})
