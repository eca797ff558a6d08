import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitPrior } from '../src/moderation.ts'
import { createRandom } from '../src/random.ts'
import { type Fitted, fitLayouts, type NamedLayout } from '../src/variances.ts'
import { near } from './near.ts'

const random = createRandom(11)
const noise = () => Math.log(random() / (1 - random())) * 0.03
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const draw = (): NamedLayout => ({ names: NAMES, values: NAMES.map(() => [1, 2, 3, 4].map(noise)) })
const only = (layout: NamedLayout): Fitted => fitLayouts([layout])[0] as Fitted

test('each variance is the weighted mean of the prior and its own', () => {
  const layout = {
    names: NAMES,
    values: draw().values.map((row, index) => row.map((one) => (one ?? 0) * (1 + index / 4))),
  }
  const { fit, variances } = only(layout)
  const prior = fitPrior(fit.rows.filter((row) => row !== null))
  assert.ok(Number.isFinite(prior.df))
  for (const [index, row] of fit.rows.entries()) {
    if (row === null || row.variance > 4 * fit.pooled.variance) continue
    const expected = (prior.df * prior.variance + 3 * row.variance) / (prior.df + 3)
    near(variances?.rows[index]?.variance, expected)
    near(variances?.rows[index]?.shared, (prior.df * prior.variance) / (prior.df + 3))
  }
})

test('an outlying launch leaves its row with a variance of its own, and only that', () => {
  const layout = draw()
  const values = layout.values.map((row, index) =>
    index === 2 ? row.map((one, h) => (h === 1 ? (one ?? 0) + 1 : one)) : row,
  )
  const { fit, variances } = only({ ...layout, values })
  assert.ok((fit.rows[2]?.variance ?? 0) > 4 * fit.pooled.variance)
  near(variances?.rows[2]?.variance, fit.rows[2]?.variance ?? Number.NaN)
  assert.equal(variances?.rows[2]?.shared, 0)
  for (const index of [0, 1, 3, 4, 5, 6, 7]) assert.ok((variances?.rows[index]?.shared ?? 0) > 0)
})

test('alone, a layout has the degrees of freedom of its residuals', () => {
  near(only(draw()).variances?.limitDf, 21)
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
  const prior = fitPrior(fit.rows.filter((row) => row !== null))
  assert.equal(fit.rows[0], null)
  near(variances?.rows[0]?.variance, prior.variance)
})
