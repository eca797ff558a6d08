import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createTurnAge } from '../../src/http/turn-age.ts'

const LIMIT_MS = 100

/** As rendering does. */
function keepBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('refuses what a turn of the event loop comes to after the limit', () => {
  const isBehind = createTurnAge(LIMIT_MS)
  equal(isBehind(), false)
  keepBusy(LIMIT_MS + 1)
  equal(isBehind(), true)
})

test('counts what the loop does between its requests, such as rendering a stream', async () => {
  const isBehind = createTurnAge(LIMIT_MS)
  isBehind()
  await setImmediate()
  keepBusy(LIMIT_MS + 1)
  equal(isBehind(), true)
})

test('begins afresh with the next turn', async () => {
  const isBehind = createTurnAge(LIMIT_MS)
  isBehind()
  keepBusy(LIMIT_MS + 1)
  await setImmediate()
  equal(isBehind(), false)
})

test('does not count the time that the loop sleeps', async () => {
  const isBehind = createTurnAge(LIMIT_MS)
  isBehind()
  await sleep(5 * LIMIT_MS)
  equal(isBehind(), false)
})

test('serves again after it has refused for as long', () => {
  const isBehind = createTurnAge(LIMIT_MS)
  isBehind()
  keepBusy(LIMIT_MS + 1)
  equal(isBehind(), true)
  keepBusy(LIMIT_MS + 1)
  equal(isBehind(), false)
})

test('never refuses with a limit of 0', () => {
  const isBehind = createTurnAge(0)
  isBehind()
  keepBusy(5)
  equal(isBehind(), false)
})
