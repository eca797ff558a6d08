import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitTwoWay, type Layout } from '../src/two-way.ts'
import { near } from './near.ts'

// Montgomery, Design and Analysis of Experiments, the hardness testing experiment (table 5-1 of the 3rd edition, 4-2 of later ones):
// four tips on four coupons, coded as tenths above 9.5. Analysis of variance: error 8.00 with 9 degrees of freedom, mean square 0.89.
const HARDNESS = [
  [-2, -1, 1, 5],
  [-1, -2, 3, 4],
  [-3, -1, 0, 2],
  [2, 1, 5, 7],
]

test('a full layout: contrasts are differences of row means, rows have one degree of freedom less than columns', () => {
  const { contrast, rows, columns } = fitTwoWay(HARDNESS)
  // Totals of tips: 3, 4, −2, 15.
  const found = contrast(3, 2)
  near(found?.estimate, 17 / 4)
  for (const [row, load] of [0, 0, 1 / 4, 1 / 4].entries()) near(found?.loads[row], load)
  for (const row of rows) near(row?.df, 3)
  // Sums of squares of rows, over (k − 1)(1 − 1/n): together, they are the sum of squares for error.
  near(
    rows.reduce((sum, row) => sum + (row?.variance ?? 0) * 3 * (3 / 4), 0),
    8,
  )
  // Totals of coupons: −4, −3, 9, 18.
  near((columns?.[3] ?? 0) - (columns?.[0] ?? 0), 22 / 4)
})

test('a missing value: as Yates estimates it', () => {
  // The same book, on missing values: without tip 2 on coupon 3 its estimate is (4·1 + 4·6 − 17)/9 = 1.22 (Yates 1933), and error has
  // one degree of freedom less. With the estimate in its place, all differences of row means are right.
  const layout = replace(HARDNESS, 1, 2, null)
  const { pooled, contrast, residuals } = fitTwoWay(layout)
  const estimate = (4 * 1 + 4 * 6 - 17) / 9
  const filled = fitTwoWay(replace(HARDNESS, 1, 2, estimate))
  assert.equal(pooled.df, 8)
  near(pooled.variance, (filled.pooled.variance * 9) / 8)
  for (const other of [0, 2, 3])
    near(contrast(1, other)?.estimate, filled.contrast(1, other)?.estimate ?? Number.NaN)
  assert.equal(residuals[1]?.[2], null)
  // The variance of a difference with the row that lacks a value is σ²(2/b + a/(b(b − 1)(a − 1))) (Cochran and Cox 1957, on
  // missing values in randomised blocks).
  near(
    contrast(1, 0)?.loads.reduce((sum, load) => sum + load, 0),
    2 / 4 + 4 / (4 * 3 * 3),
  )
})

test('degrees of freedom of rows add up to what the layout has, missing values or not', () => {
  const layout = replace(replace(HARDNESS, 0, 0, null), 2, 3, null)
  const { rows, pooled } = fitTwoWay(layout)
  assert.equal(pooled.df, 14 - 4 - 4 + 1)
  assert.deepEqual(
    rows.map((row) => Math.round(row?.df ?? 0)),
    [2, 3, 2, 3],
  )
})

test('rows that no chain of columns links are not compared', () => {
  const { contrast, columns } = fitTwoWay([
    [1, 2, null, null],
    [2, 3, null, null],
    [null, null, 5, 6],
  ])
  near(contrast(1, 0)?.estimate, 1)
  assert.equal(contrast(2, 0), null)
  assert.equal(columns, null)
})

test('rows that are linked through a third one are', () => {
  const { contrast } = fitTwoWay([
    [1, 2, null, null],
    [null, 5, 6, null],
    [null, null, 8, 9],
  ])
  // Row 1 is 3 above row 0 in their column, row 2 is 2 above row 1 in theirs.
  near(contrast(2, 0)?.estimate, 5)
})

test('an empty row and an empty column are as if they were not there', () => {
  const { pooled, rows, columns, contrast } = fitTwoWay([
    ...HARDNESS.map((row) => [...row, null]),
    [null, null, null, null, null],
  ])
  near(pooled.variance, 8 / 9)
  assert.equal(rows[4], null)
  assert.equal(columns?.length, 4)
  near(contrast(0, 1)?.estimate, -1 / 4)
  assert.equal(contrast(0, 4), null)
})

test('one column tells nothing of the error', () => {
  const { pooled, rows, contrast } = fitTwoWay([[1], [2]])
  assert.equal(pooled.df, 0)
  assert.deepEqual(rows, [null, null])
  near(contrast(1, 0)?.estimate, 1)
})

function replace(layout: Layout, row: number, column: number, value: number | null): (number | null)[][] {
  return layout.map((values, r) => values.map((old, c) => (r === row && c === column ? value : old)))
}
