import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tQuantile, tTwoSided } from '../src/student.ts'

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

test('one and two degrees of freedom agree with their closed forms', () => {
  for (const p of [0.5, 0.6, 0.75, 0.9, 0.99, 0.9999]) {
    const cauchy = Math.tan(Math.PI * (p - 0.5))
    assert.ok(Math.abs(tQuantile(p, 1) - cauchy) <= 1e-9 * Math.max(1, cauchy))
    const two = (2 * p - 1) / Math.sqrt(2 * p * (1 - p))
    assert.ok(Math.abs(tQuantile(p, 2) - two) <= 1e-9 * Math.max(1, two))
  }
})

test('many degrees of freedom come close to the normal distribution', () => {
  assert.equal(tQuantile(0.975, 1e6).toFixed(4), '1.9600')
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
