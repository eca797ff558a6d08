import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../src/random.ts'
import type { Variance } from '../src/two-way.ts'
import {
  type Fitted,
  fitLayouts,
  fitPrior,
  type NamedLayout,
  squeeze,
  trigammaInverse,
} from '../src/variances.ts'
import { near } from './near.ts'

const random = createRandom(11)
const noise = () => Math.log(random() / (1 - random())) * 0.03
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const draw = (): NamedLayout => ({ names: NAMES, values: NAMES.map(() => [1, 2, 3, 4].map(noise)) })
const only = (layout: NamedLayout): Fitted => fitLayouts([layout])[0] as Fitted

test('each variance is its own, and the pooled one as half a degree of freedom, which all rows share', () => {
  const { fit, variances } = only(draw())
  for (const [index, row] of fit.rows.entries()) {
    near(variances?.rows[index]?.own.variance, (3 / 3.5) * (row?.variance ?? 0))
    near(variances?.rows[index]?.own.df, 3)
    near(variances?.rows[index]?.shared, (0.5 / 3.5) * fit.pooled.variance)
  }
})

test('a row with six times the variance of the others keeps it, also among four; the others do not have a part of it', () => {
  for (const rows of [8, 4]) {
    const { names, values } = draw()
    const noisy = values
      .slice(0, rows)
      .map((row, index) => (index === 2 ? row.map((one) => 100 * (one ?? 0)) : row))
    const { fit, variances } = only({ names: names.slice(0, rows), values: noisy })
    assert.deepEqual(variances?.rows[2], { own: fit.rows[2], shared: 0 })
    const others = fit.rows.filter((_, index) => index !== 2)
    const most = Math.max(...others.map((row) => row?.variance ?? 0))
    const { own, shared } = variances?.rows[0] ?? {}
    assert.ok((own?.variance ?? Number.NaN) + (shared ?? 0) <= most)
  }
})

test('a second layout of the same errors adds no degrees of freedom, one of others nearly as many again', () => {
  const layout = draw()
  const same = fitLayouts([
    layout,
    { ...layout, values: layout.values.map((row) => row.map((one) => (one ?? 0) + 5)) },
  ])
  near(same[0]?.variances?.limitDf, 21)
  const other = fitLayouts([layout, draw()])
  const limit = other[1]?.variances?.limitDf ?? 0
  assert.ok(limit > 28 && limit < 42, `${limit}`)
})

test('rows are matched by name, not by place', () => {
  const layout = draw()
  const reversed = { names: [...NAMES].reverse(), values: [...layout.values].reverse() }
  near(fitLayouts([layout, reversed])[0]?.variances?.limitDf, 21)
})

test('no shared names tell of dependence: the safe side', () => {
  const [fitted] = fitLayouts([draw(), { ...draw(), names: NAMES.map((name) => `${name}#2`) }])
  near(fitted?.variances?.limitDf, 21)
})

test('a layout of one column has no variances, and takes none from the other', () => {
  const [one, other] = fitLayouts([{ names: NAMES, values: NAMES.map(() => [1]) }, draw()])
  assert.equal(one?.variances, null)
  near(other?.variances?.limitDf, 21)
  assert.deepEqual(
    fitLayouts([{ names: ['a'], values: [[1]] }]).map(({ variances }) => variances),
    [null],
  )
})

test('a row with one value has the variance of the others', () => {
  const layout = draw()
  const values = layout.values.map((row, index) => (index === 0 ? [row[0] ?? 0, null, null, null] : row))
  const { fit, variances } = only({ ...layout, values })
  assert.equal(fit.rows[0], null)
  const others = fit.rows.filter((row) => row !== null)
  const [squares, df] = others.reduce(
    ([sum, dfs], row) => [sum + row.df * row.variance, dfs + row.df],
    [0, 0],
  )
  near(variances?.rows[0]?.shared, squares / df)
})

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

test('the inverse of trigamma agrees with limma', () => {
  // limma::trigammaInverse(c(1, 2, 3)), as Gemma's SpecFuncTest quotes it.
  near(trigammaInverse(1), 1.4262551202150788, 1e-12)
  near(trigammaInverse(2), 0.8766640774642602, 1e-12)
  near(trigammaInverse(3), 0.6754781052813701, 1e-12)
  // The tests of limma's Python port InMoose (tests/limma/test_fitFDist.py).
  near(trigammaInverse(5), 0.4961687, 1e-7)
})

test('beyond the ends the inverse is asymptotic', () => {
  near(trigammaInverse(1e-8), 1e8, 1e-6)
  near(trigammaInverse(1e9), 1 / Math.sqrt(1e9))
})
