import { deepEqual, equal, ok } from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOverload } from '../../src/http/overload.ts'

const LIMIT_MS = 200
const OPEN = { closed: false }

/** As rendering does. */
function keepBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('what is quick is told at once', () => {
  const isBehind = createOverload(LIMIT_MS)
  deepEqual([isBehind(OPEN), isBehind(OPEN), isBehind(OPEN)], [false, false, false])
})

test('a turn that was long enough makes others wait, in the order in which they came', async () => {
  const isBehind = createOverload(LIMIT_MS)
  isBehind(OPEN)
  keepBusy(11)
  const order: number[] = []
  const answers = [1, 2, 3].map(async (number) => {
    const answer = await isBehind(OPEN)
    order.push(number)
    return answer
  })
  ok(isBehind(OPEN) instanceof Promise)
  deepEqual(await Promise.all(answers), [false, false, false])
  deepEqual(order, [1, 2, 3])
})

test('one is served per turn, so that others come between', async () => {
  const isBehind = createOverload(LIMIT_MS)
  isBehind(OPEN)
  keepBusy(11)
  const turns = await Promise.all(
    [1, 2, 3].map(async () => {
      await isBehind(OPEN)
      return performance.nodeTiming.uvMetricsInfo.loopCount
    }),
  )
  equal(new Set(turns).size, 3)
})

test('who has waited for too long is refused, who came later is served', async () => {
  const isBehind = createOverload(LIMIT_MS)
  isBehind(OPEN)
  keepBusy(11)
  const first = isBehind(OPEN)
  keepBusy(LIMIT_MS + 1)
  const later = isBehind(OPEN)
  deepEqual([await first, await later], [true, false])
})

test('who leaves while waiting gets no page', async () => {
  const isBehind = createOverload(LIMIT_MS)
  isBehind(OPEN)
  keepBusy(11)
  const response = { closed: false }
  const answers = [isBehind(response), isBehind(OPEN)]
  response.closed = true
  deepEqual(await Promise.all(answers), [true, false])
})

test('begins afresh when nobody waits', async () => {
  const isBehind = createOverload(LIMIT_MS)
  isBehind(OPEN)
  keepBusy(LIMIT_MS + 1)
  await sleep(5)
  equal(isBehind(OPEN), false)
})

test('with a limit of 0 nobody waits', () => {
  const isBehind = createOverload(0)
  isBehind(OPEN)
  keepBusy(11)
  equal(isBehind(OPEN), false)
})
