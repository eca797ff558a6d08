import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Contention,
  fitContention,
  type ScalingPoint,
  type Series,
  scalingFactor,
} from '../src/contention.ts'
import { createRandom } from '../src/random.ts'
import { drawNormal } from './draw-normal.ts'
import { near } from './near.ts'

const COUNTS = [1, 2, 3, 4, 6, 8]

function curve(
  sigma: number,
  kappa: number,
  level = 1_000,
  counts: readonly number[] = COUNTS,
): ScalingPoint[] {
  return counts.map((workers) => ({ workers, rate: level * scalingFactor(workers, sigma, kappa) }))
}

function fit(series: Series): Contention {
  const found = fitContention(series)
  assert.ok('sigma' in found, 'missing' in found ? found.missing : '')
  return found
}

function missing(series: Series): string {
  const found = fitContention(series)
  assert.ok('missing' in found)
  return found.missing
}

test('the law: linear, Amdahl, and with a peak', () => {
  assert.equal(scalingFactor(1, 0.3, 0.2), 1)
  assert.equal(scalingFactor(8, 0, 0), 8)
  near(scalingFactor(1e9, 0.05, 0), 20, 1e-6)
  // Gunther 2007, equation 4.33: the peak is at the square root of (1 - sigma) / kappa.
  const at = (workers: number) => scalingFactor(workers, 0.02, 0.0005)
  const peak = Math.sqrt(0.98 / 0.0005)
  assert.ok(at(peak) > at(peak - 1) && at(peak) > at(peak + 1))
})

test('finds the coefficients of known curves', () => {
  for (const [sigma, kappa] of [
    [0, 0],
    [0.05, 0],
    [0, 0.01],
    [0.05, 0.001],
    [0.3, 0.05],
    [1, 0],
    [-0.03, 0.004],
  ] as const) {
    const found = fit([curve(sigma, kappa)])
    near(found.sigma.value, sigma)
    near(found.kappa.value, kappa)
  }
})

test('agrees with the R package usl on the example of its tests', () => {
  // tests/coef.R, whose rates are the law's at sigma = kappa = 0.02, rounded to four decimals.
  const rates = [
    [1, 1],
    [2, 1.8868],
    [4, 3.0769],
    [6, 3.5294],
    [8, 3.5398],
    [10, 3.3557],
  ]
  const found = fit([rates.map(([workers = 0, rate = 0]) => ({ workers, rate }))])
  near(found.sigma.value, 0.02, 1e-4)
  near(found.kappa.value, 0.02, 1e-4)
  near(found.peakWorkers, 7, 1e-2)
})

test('finds the minimum that a search by brute force finds', () => {
  const random = createRandom(7)
  const points = curve(0.08, 0.004).map(({ workers, rate }) => ({
    workers,
    rate: rate * (0.95 + 0.1 * random()),
  }))
  const found = fit([points])
  const spread = (sigma: number, kappa: number) => {
    const logs = points.map(({ workers, rate }) => Math.log(rate / scalingFactor(workers, sigma, kappa)))
    const level = logs.reduce((sum, log) => sum + log, 0) / logs.length
    return logs.reduce((sum, log) => sum + (log - level) ** 2, 0)
  }
  const [sigma, kappa] = [found.sigma.value, found.kappa.value]
  const least = spread(sigma, kappa)
  for (let i = -40; i <= 40; i++)
    for (let j = -40; j <= 40; j++)
      assert.ok(spread(sigma + i * 0.002, kappa + j * 0.0002) >= least - 1e-12, `lower at ${i}, ${j}`)
})

test('each series has a level of its own, and need not have a point of one worker', () => {
  const found = fit([curve(0.1, 0.01, 50_000), curve(0.1, 0.01, 31_000, [2, 4, 8]), []])
  near(found.sigma.value, 0.1)
  near(found.kappa.value, 0.01)
})

test('intervals cover the truth 95 times in 100', () => {
  const random = createRandom(2026)
  const normal = () => drawNormal(random)
  const [sigma, kappa] = [0.06, 0.008]
  const covered = { sigma: 0, kappa: 0 }
  const RUNS = 1_000
  for (let run = 0; run < RUNS; run++) {
    const series = [900, 1_000, 1_200].map((level) =>
      curve(sigma, kappa, level, [1, 2, 3, 4]).map(({ workers, rate }) => ({
        workers,
        rate: rate * Math.exp(0.03 * normal()),
      })),
    )
    const found = fit(series)
    if (inside(found.sigma, sigma)) covered.sigma++
    if (inside(found.kappa, kappa)) covered.kappa++
  }
  // Four standard deviations of a share of 0.95 among 1,000 are 0.028.
  for (const count of Object.values(covered)) assert.ok(Math.abs(count / RUNS - 0.95) < 0.028, `${count}`)
})

function inside({ low, high }: { low: number | null; high: number | null }, value: number): boolean {
  return low !== null && high !== null && low <= value && value <= high
}

test('a peak is told only where throughput is shown to fall, and is one worker at least', () => {
  near(fit([curve(0.02, 0.005)]).peakWorkers, 14, 1e-6)
  assert.equal(fit([curve(0.9, 0.5)]).peakWorkers, 1)
  assert.equal(fit([curve(1.5, 0.5)]).peakWorkers, 1)
  const wobbly = curve(0.02, 0).map(({ workers, rate }, index) => ({
    workers,
    rate: rate * (index % 2 ? 1.1 : 1),
  }))
  assert.equal(fit([wobbly]).peakWorkers, null)
})

test('without a degree of freedom there is a curve, but no interval', () => {
  const { sigma, kappa, residual, peakWorkers } = fit([curve(0.05, 0.01, 1_000, [1, 2, 4])])
  near(sigma.value, 0.05)
  near(kappa.value, 0.01)
  assert.deepEqual([sigma.low, sigma.high, kappa.low, kappa.high, residual, peakWorkers], Array(6).fill(null))
})

test('says what is missing', () => {
  const few = 'Two coefficients need at least 3 numbers of workers, each with a core of its own; there are'
  assert.equal(missing([]), `${few} none.`)
  assert.equal(missing([curve(0, 0, 1, [1])]), `${few} 1 (1).`)
  assert.equal(missing([curve(0, 0, 1, [2, 1]), curve(0, 0, 3, [1, 2])]), `${few} 2 (1 and 2).`)
  // Nothing ties 1 and 2 to 4.
  assert.match(
    missing([curve(0, 0, 1, [1, 2]), curve(0, 0, 1, [4])]),
    /^No series has enough numbers of workers/,
  )
  const absurd = [1, 1e6, 1e-6, 5].map((rate, index) => ({ workers: index + 1, rate }))
  assert.match(missing([absurd]), /^No curve of the Universal Scalability Law comes near/)
})

test('refuses a throughput that is not a positive number', () => {
  for (const workers of [0, -1, 1.5, Number.NaN])
    assert.throws(() => fitContention([[{ workers, rate: 1 }]]), RangeError)
  for (const rate of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => fitContention([[{ workers: 1, rate }]]), RangeError)
})
