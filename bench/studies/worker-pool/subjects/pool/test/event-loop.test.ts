import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchEventLoop } from '../src/event-loop.ts'

test('tells how long others had to wait, and starts again when it was asked', async () => {
  const readDelay = watchEventLoop()
  await sleep(50)
  const until = performance.now() + 1_000
  while (performance.now() < until);
  await sleep(50)
  const { p50, p99, max } = readDelay()
  ok(max > 900 && p99 <= max && p50 <= p99, JSON.stringify({ p50, p99, max }))
  await sleep(100)
  ok(readDelay().max < max)
})
