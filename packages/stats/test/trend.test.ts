import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonSlope } from '../src/trend.ts'
import { near } from './near.ts'

// Anscombe 1973, The American Statistician 27:17, first set: slope 0.5001, standard error 0.1179 with 9 degrees of freedom.
const X = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
const Y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
const ANSCOMBE = X.map((x, index) => ({ x, y: Y[index] ?? 0 }))

test('the slope of one group is that of a regression', () => {
  const slope = commonSlope([ANSCOMBE])
  near(slope?.estimate, 0.5001, 1e-4)
  near(slope?.standardError, 0.1179, 1e-4)
  assert.equal(slope?.df, 9)
})

test('groups may lie at any level, and begin anywhere', () => {
  const shifted = ANSCOMBE.map(({ x, y }) => ({ x: x + 100, y: y - 7 }))
  const slope = commonSlope([ANSCOMBE, [], shifted])
  near(slope?.estimate, commonSlope([ANSCOMBE])?.estimate ?? Number.NaN)
  assert.equal(slope?.df, 22 - 2 - 1)
})

test('too few points, or all at one place, have no slope', () => {
  const [first, second] = ANSCOMBE
  if (first === undefined || second === undefined) throw new Error('There are no points.')
  assert.equal(commonSlope([[first, second]]), null)
  assert.equal(commonSlope([[first], [second]]), null)
  assert.equal(commonSlope([[first, first, first]]), null)
  assert.equal(commonSlope([]), null)
})
