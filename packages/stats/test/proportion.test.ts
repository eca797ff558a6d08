import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { proportion } from '../src/proportion.ts'
import { near } from './near.ts'

test('the exact interval of a part, as tables have it', () => {
  // R: binom.test(5, 10)$conf.int, binom.test(1, 8)$conf.int
  const half = proportion(5, 10)
  near(half.low, 0.1870860284, 1e-9)
  near(half.high, 0.8129139716, 1e-9)
  const one = proportion(1, 8)
  near(one.low, 0.0031597235, 1e-9)
  near(one.high, 0.5265096709, 1e-9)
})

test('none and all of so many: one end is the quantile, the other is certain', () => {
  const none = proportion(0, 10)
  equal(none.low, 0)
  near(none.high, 1 - 0.025 ** (1 / 10), 1e-12)
  const all = proportion(10, 10)
  near(all.low, 0.025 ** (1 / 10), 1e-12)
  equal(all.high, 1)
})

test('without trials nothing is known', () => {
  equal(proportion(0, 0).low, null)
})
