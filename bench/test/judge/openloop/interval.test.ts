import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { geometricMean, intervalAround, intervalOf } from '../../../src/judge/trial.ts'

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && Math.abs(actual / expected - 1) < 1e-3, `${actual} is not ${expected}`)
}

describe('an interval over launches', () => {
  test('is Student t on logarithms around the geometric mean', () => {
    // By hand: ln of 90, 100, 110 has mean 4.60182 and standard deviation 0.10045; t(0.975, 2) = 4.30265.
    const { value, low, high } = intervalOf([90, 100, 110])
    near(value, 99.665)
    near(low, 99.665 / Math.exp((4.30265 * 0.10045) / Math.sqrt(3)))
    near(high, 99.665 * Math.exp((4.30265 * 0.10045) / Math.sqrt(3)))
  })

  test('has the same width around another estimate', () => {
    const own = intervalOf([90, 100, 110])
    const { value, low, high } = intervalAround(200, [90, 100, 110])
    assert.equal(value, 200)
    near(low, (200 * (own.low ?? 0)) / own.value)
    near(high, (200 * (own.high ?? 0)) / own.value)
  })

  test('has no ends with one launch', () => {
    assert.deepEqual(intervalOf([7]), { value: 7, low: null, high: null })
    assert.deepEqual(intervalAround(7, [6]), { value: 7, low: null, high: null })
  })

  test('needs a value', () => {
    assert.throws(() => intervalOf([]), RangeError)
  })

  test('of equal launches has no width', () => {
    near(intervalOf([5, 5, 5]).low, 5)
    near(geometricMean([2, 8]), 4)
  })
})
