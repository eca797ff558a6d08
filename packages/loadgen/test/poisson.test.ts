import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { poisson } from '../src/engine/poisson.ts'

function firstDue(next: () => number, count: number): number[] {
  return Array.from({ length: count }, next)
}

function gaps(times: readonly number[]): number[] {
  return times.map((time, n) => time - (times[n - 1] ?? 0))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function variance(values: readonly number[]): number {
  const middle = mean(values)
  return mean(values.map((value) => (value - middle) ** 2))
}

test('gaps have the mean and the variance of an exponential distribution', () => {
  const count = 200_000
  const drawn = gaps(firstDue(poisson(500, createRandom(1)), count))
  // In milliseconds the mean is 2 and the variance 4; five standard errors of each (kurtosis 9).
  assert.ok(Math.abs(mean(drawn) - 2) < 5 * (2 / Math.sqrt(count)), `mean ${mean(drawn)}`)
  assert.ok(Math.abs(variance(drawn) - 4) < 5 * 4 * Math.sqrt(8 / count), `variance ${variance(drawn)}`)
  // P(gap > t) = exp(−t / mean), at several t.
  for (const t of [0.2, 2, 6]) {
    const expected = Math.exp(-t / 2)
    const found = drawn.filter((gap) => gap > t).length / count
    const error = Math.sqrt((expected * (1 - expected)) / count)
    assert.ok(Math.abs(found - expected) < 5 * error, `${found} of the gaps exceed ${t} ms, not ${expected}`)
  }
})

test('gaps are independent, so that counts per window vary as much as their mean', () => {
  const times = firstDue(poisson(1_000, createRandom(2)), 200_000)
  const windows = new Array<number>(1_900).fill(0)
  for (const time of times) {
    const window = Math.floor(time / 100)
    if (window < windows.length) windows[window] = (windows[window] ?? 0) + 1
  }
  // The index of dispersion is 1 with a standard error of √(2/n).
  const dispersion = variance(windows) / mean(windows)
  assert.ok(Math.abs(dispersion - 1) < 5 * Math.sqrt(2 / windows.length), `${dispersion}`)
  const drawn = gaps(times)
  const middle = mean(drawn)
  const products = drawn.slice(1).map((gap, n) => (gap - middle) * ((drawn[n] ?? 0) - middle))
  assert.ok(Math.abs(mean(products) / variance(drawn)) < 5 / Math.sqrt(drawn.length), 'no autocorrelation')
})

test('the seed decides', () => {
  const times = (seed: number) => firstDue(poisson(10, createRandom(seed)), 100)
  assert.deepEqual(times(5), times(5))
  assert.notDeepEqual(times(5), times(6))
})
