import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTurnLoadShedder } from '../../src/http/load-shedding-by-turn.ts'
import { STANDING_MS } from '../../src/http/overload.ts'

const LIMIT_MS = 250

/** With a clock that stands still until a test moves it. */
function setUp(limitMs = LIMIT_MS) {
  const clock = { ms: 1000 }
  return { clock, shouldShed: createTurnLoadShedder(limitMs, () => clock.ms) }
}

test('after one pause of 400 ms with 20 requests waiting, nothing is shed', () => {
  const { clock, shouldShed } = setUp()
  shouldShed()
  clock.ms += 400
  for (let request = 0; request < 20; request++) {
    equal(shouldShed(), false)
    clock.ms += 4 // the page is rendered
  }
})

test('sheds when all that a turn has served for 100 ms came after the limit', () => {
  const { clock, shouldShed } = setUp()
  equal(shouldShed(), false)
  clock.ms += LIMIT_MS + 1
  equal(shouldShed(), false)
  clock.ms += STANDING_MS
  equal(shouldShed(), true)
})

test('counts what the loop does between its requests, such as rendering a stream', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed()
  await setImmediate()
  clock.ms += LIMIT_MS + 1
  equal(shouldShed(), false)
  clock.ms += STANDING_MS
  equal(shouldShed(), true)
})

test('begins afresh with the next turn', async () => {
  const { clock, shouldShed } = setUp()
  shouldShed()
  clock.ms += LIMIT_MS + 1
  shouldShed()
  await setImmediate()
  await setImmediate()
  clock.ms += STANDING_MS
  equal(shouldShed(), false)
})

test('serves again after it has shed for as long', () => {
  const { clock, shouldShed } = setUp()
  shouldShed()
  clock.ms += LIMIT_MS + 1
  shouldShed()
  clock.ms += STANDING_MS
  equal(shouldShed(), true)
  clock.ms += LIMIT_MS + 1
  equal(shouldShed(), false)
})

test('never sheds with a limit of 0', () => {
  const { clock, shouldShed } = setUp(0)
  shouldShed()
  clock.ms += 5000
  equal(shouldShed(), false)
})
