import assert from 'node:assert/strict'
import { test } from 'node:test'
import { geometricMean, pairedRatio } from '../src/stats.ts'

function near(actual: number | undefined, expected: number, relative = 1e-9): void {
  assert.ok(
    actual !== undefined && Math.abs(actual / expected - 1) < relative,
    `${actual} is not ${expected}`,
  )
}

test('the geometric mean, worked by hand', () => {
  near(geometricMean([1, 10, 100]).value, 10)
  near(geometricMean([2, 8]).value, 4)
})

test('the interval is Student t on logarithms, worked by hand', () => {
  // Logarithms to base 10 are 0, 1, 2: mean 1, standard deviation 1, standard error 1/√3; t(0.975; 2) = 4.302653 (NIST).
  const { low, high } = geometricMean([1, 10, 100])
  near(low, 10 ** (1 - 4.302653 / Math.sqrt(3)), 1e-5)
  near(high, 10 ** (1 + 4.302653 / Math.sqrt(3)), 1e-5)
})

test('equal values leave no doubt', () => {
  const { low, high } = geometricMean([7, 7, 7])
  near(low, 7)
  near(high, 7)
})

test('one value has no interval', () => {
  const { value, low, high } = geometricMean([5])
  near(value, 5)
  assert.deepEqual([low, high], [undefined, undefined])
})

test('nothing has no mean', () => {
  assert.throws(() => geometricMean([]), new RangeError('There is nothing to average.'))
  assert.throws(() => pairedRatio([]), RangeError)
})

test('a factor common to both cells of a round cancels out of their ratio', () => {
  const factors = [1, 0.5, 3, 0.1]
  const steady = pairedRatio(factors.map(() => [80, 100]))
  const disturbed = pairedRatio(factors.map((factor) => [80 * factor, 100 * factor]))
  near(disturbed.value, 0.8)
  near(disturbed.low, steady.low ?? 0)
  near(disturbed.high, steady.high ?? 0)
})

test('the ratio turned round is the reciprocal, ends included', () => {
  const pairs: [number, number][] = [
    [80, 100],
    [90, 95],
    [70, 110],
  ]
  const ratio = pairedRatio(pairs)
  const reverse = pairedRatio(pairs.map(([a, b]) => [b, a]))
  near(reverse.value, 1 / ratio.value)
  near(reverse.low, 1 / (ratio.high ?? 0))
  near(reverse.high, 1 / (ratio.low ?? 0))
})
