import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitPrior, squeeze } from '../src/moderation.ts'
import type { Variance } from '../src/two-way.ts'
import { near } from './near.ts'

const withDf = (df: number, ...variances: number[]): Variance[] =>
  variances.map((variance) => ({ variance, df }))

test('prior and posterior variances are those of limma', () => {
  // limma::squeezeVar(c(0.5, 1.3, 7.8), df = 3), as the tests of its Python port InMoose quote it (tests/limma/test_squeezeVar.py).
  const observed = withDf(3, 0.5, 1.3, 7.8)
  const prior = fitPrior(observed)
  near(prior.df, 2.830777, 1e-6)
  near(prior.variance, 1.676927, 1e-6)
  const posterior = observed.map((one) => squeeze(one, prior))
  for (const [index, expected] of [1.071385, 1.482994, 4.827317].entries())
    near(posterior[index]?.variance, expected, 1e-6)
  near(posterior[0]?.df, 3 + 2.830777, 1e-6)
})

test('with two degrees of freedom the moments can be written down by hand', () => {
  // ψ(1) = −γ and ψ′(1) = π²/6, so e = log s² + γ. The logarithms ±a have variance 2a²; ψ′(d0/2) is what is left of it.
  const a = 3
  const { variance, df } = fitPrior(withDf(2, Math.exp(-a), Math.exp(a)))
  const left = 2 * a * a - Math.PI ** 2 / 6
  // By bisection on the defining sum of ψ′, another route than Newton's.
  let [low, high] = [1e-3, 1e3]
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2
    if (sumOfTrigamma(middle) > left) low = middle
    else high = middle
  }
  near(df, 2 * low, 1e-6)
  // log s0² = mean e + ψ(d0/2) − log(d0/2); ψ by its series −γ − 1/x + Σ x/(k(k + x)) (DLMF 5.7.6).
  near(Math.log(variance), 0.5772156649015329 + sumOfDigamma(low) - Math.log(low), 1e-5)
})

function sumOfTrigamma(x: number): number {
  let sum = 0
  for (let k = 20_000; k >= 0; k--) sum += 1 / (x + k) ** 2
  return sum + 1 / (x + 20_000.5)
}

function sumOfDigamma(x: number): number {
  let sum = -0.5772156649015329 - 1 / x
  for (let k = 1; k <= 1_000_000; k++) sum += x / (k * (k + x))
  return sum
}

test('variances that differ by chance only are one: the pooled', () => {
  const prior = fitPrior([...withDf(3, 1, 1.2), { variance: 2, df: 6 }])
  assert.equal(prior.df, Number.POSITIVE_INFINITY)
  near(prior.variance, (3 * 1 + 3 * 1.2 + 6 * 2) / 12)
  assert.deepEqual(squeeze({ variance: 9, df: 3 }, prior), prior)
})

test('one variance is its own prior, and none at all is none', () => {
  near(fitPrior(withDf(3, 5)).variance, 5)
  assert.deepEqual(fitPrior(withDf(3, 0, 0, 0)), { variance: 0, df: Number.POSITIVE_INFINITY })
})

test('a variance of nothing counts as small, not as infinitely small', () => {
  const prior = fitPrior(withDf(3, 0, 1, 1.3, 0.8))
  assert.ok(prior.df > 0.1 && prior.variance > 0, JSON.stringify(prior))
})
