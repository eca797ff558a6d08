import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../src/random.ts'
import { type Fitted, fitLayouts, type NamedLayout } from '../src/variances.ts'
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
  assert.equal(fit.rows[0], null)
  const others = fit.rows.filter((row) => row !== null)
  const [squares, df] = others.reduce(
    ([sum, dfs], row) => [sum + row.df * row.variance, dfs + row.df],
    [0, 0],
  )
  near(variances?.rows[0]?.shared, squares / df)
})
