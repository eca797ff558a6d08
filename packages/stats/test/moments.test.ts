import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean, median, quantile, sampleVariance } from '../src/moments.ts'

test('the median is the middle of an odd number of values, and the mean of the two in the middle of an even one', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([9, 1, 5, 6]), 5.5)
  assert.ok(Number.isNaN(median([])))
})

test('mean and sample variance of 2, 4, 4, 4, 5, 5, 7, 9: 5 and 32/7', () => {
  const values = [2, 4, 4, 4, 5, 5, 7, 9]
  assert.equal(mean(values), 5)
  assert.equal(sampleVariance(values), 32 / 7)
})

test('a quantile lies between the two nearest values', () => {
  assert.equal(quantile([4, 1, 3, 2], 0.75), 3.25)
  assert.equal(quantile([7], 0.75), 7)
  assert.deepEqual([quantile([1, 2, 3], 0), quantile([1, 2, 3], 1)], [1, 3])
  assert.ok(Number.isNaN(quantile([], 0.5)))
})
