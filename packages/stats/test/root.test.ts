import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRoot } from '../src/root.ts'
import { near } from './near.ts'

for (const [name, valueAt, low, high, root] of [
  ['a line', (x: number) => 3 * x - 2, 0, 5, 2 / 3],
  ['a square', (x: number) => x * x - 2, 0, 8, Math.SQRT2],
  ['a steep tail', (x: number) => Math.exp(-x) - 1e-9, 0, 64, 9 * Math.LN10],
  ['a falling function', (x: number) => 1 - x ** 3, -4, 2, 1],
  ['an end', (x: number) => x, 0, 1, 0],
] as const)
  test(`${name}: the root is found to twelve digits`, () => {
    near(findRoot(valueAt, low, high), root, 1e-12)
  })

test('a smooth function takes few evaluations', () => {
  let count = 0
  findRoot(
    (x) => {
      count += 1
      return Math.log1p(x) - 2
    },
    0,
    16,
  )
  assert.ok(count <= 15, `${count}`)
})
