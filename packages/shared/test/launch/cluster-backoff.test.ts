import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from '../../src/launch/cluster-backoff.ts'

test('doubles up to half a minute', () => {
  const backoff = new Backoff()
  const waits = Array.from({ length: 12 }, () => backoff.next(0))
  deepEqual(waits.slice(0, 4), [100, 200, 400, 800])
  deepEqual(waits.slice(8), [25_600, 30_000, 30_000, 30_000])
  for (let failure = 0; failure < 2_000; failure++) equal(backoff.next(9_999), 30_000)
})

test('begins anew after a worker that served for ten seconds', () => {
  const backoff = new Backoff()
  deepEqual(
    [0, 9_999, 10_000, 0].map((servedMs) => backoff.next(servedMs)),
    [100, 200, 100, 200],
  )
})
