import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallestDifference, tQuantile, tTwoSided } from '../src/student.ts'
import { near } from './near.ts'

// NIST/SEMATECH e-Handbook, section 1.3.6.7.2, critical values of Student's t.
const PUBLISHED: [p: number, df: number, t: number][] = [
  [0.9, 1, 3.078],
  [0.975, 1, 12.706],
  [0.975, 2, 4.303],
  [0.975, 3, 3.182],
  [0.975, 4, 2.776],
  [0.995, 5, 4.032],
  [0.975, 10, 2.228],
  [0.95, 30, 1.697],
  [0.99, 100, 2.364],
]

test('the quantiles are those of published tables', () => {
  for (const [p, df, t] of PUBLISHED)
    assert.equal(tQuantile(p, df).toFixed(3), t.toFixed(3), `p = ${p}, df = ${df}`)
})

test('what has no quantile is refused', () => {
  for (const [p, df] of [
    [0.4, 3],
    [1, 3],
    [0.975, 0.5],
    [Number.NaN, 3],
  ] as const) {
    assert.throws(() => tQuantile(p, df), RangeError)
  }
})

test('p-values undo quantiles', () => {
  for (const df of [1, 2.5, 21])
    for (const p of [0.6, 0.975, 0.9995])
      assert.ok(Math.abs(tTwoSided(tQuantile(p, df), df) - 2 * (1 - p)) < 1e-12, `p = ${p}, df = ${df}`)
  assert.equal(tTwoSided(0, 3), 1)
  assert.equal(tTwoSided(-2, 3), tTwoSided(2, 3))
})

test('what can be shown is what R says', () => {
  // The examples of R's ?power.t.test: power.t.test(n = 20, delta = 1) has power 0.8689528, and
  // power.t.test(power = 0.90, delta = 1) has n = 22.02110.
  for (const [n, power] of [
    [20, 0.8689528],
    [22.0211, 0.9],
  ] as const)
    near(smallestDifference(2 * n - 2, 0.05, power) * Math.sqrt(2 / n), 1, 1e-6)
})
