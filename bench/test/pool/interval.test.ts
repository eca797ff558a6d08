import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overLaunches } from '../../src/pool/interval.ts'

test('one launch has no interval', () => {
  assert.deepEqual(overLaunches([100]), { value: 100.00000000000004, low: null, high: null })
})

test("the geometric mean, with Student's t on the logarithms", () => {
  const { value, low, high } = overLaunches([100, 200, 400])
  assert.ok(Math.abs(value - 200) < 1e-9)
  // ln 2 / sqrt 3 * t(0.975; 2) = 0.40019 * 4.30265
  assert.ok(Math.abs(Math.log((high ?? 0) / value) - 1.72186) < 1e-4)
  assert.ok(Math.abs((low ?? 0) * (high ?? 0) - value ** 2) < 1e-6)
})

test('equal launches have an interval without width', () => {
  const { value, low, high } = overLaunches([50, 50])
  assert.equal(low, value)
  assert.equal(high, value)
})
