import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean, median, sampleVariance } from '../src/moments.ts'

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
