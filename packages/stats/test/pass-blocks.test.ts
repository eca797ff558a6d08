import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitPassBlocks, type Observation } from '../src/pass-blocks.ts'
import { createRandom } from '../src/random.ts'
import { fitTwoWay } from '../src/two-way.ts'
import { drawNormal, near } from './near.ts'

/** Every value that the function gives, by cell and pass. */
function observe(
  cells: number,
  passes: number,
  effect: (cell: number, pass: number) => number | null,
): Observation[] {
  return Array.from({ length: passes }, (_, pass) =>
    Array.from({ length: cells }, (_, cell) => {
      const value = effect(cell, pass)
      return value === null ? [] : [{ cell, pass, value }]
    }).flat(),
  ).flat()
}

const difference = (found: readonly (number | null)[], a: number, b: number) =>
  (found[a] ?? Number.NaN) - (found[b] ?? Number.NaN)

test('cells and passes without noise are found exactly, also where values are missing', () => {
  const found = fitPassBlocks(
    observe(4, 6, (cell, pass) => ((cell + pass) % 5 === 0 ? null : 10 + cell + 0.1 * pass * pass)),
  )
  // The mean of the passes' effects is part of each cell.
  for (const [cell, value] of found.entries()) near(value, 10 + cell + (0.1 * (0 + 1 + 4 + 9 + 16 + 25)) / 6)
})

test('without large residuals it is ordinary least squares of an unbalanced layout', () => {
  const random = createRandom(3)
  // Uniform errors have no tails to clip.
  const values = Array.from({ length: 20 }, (_, cell) =>
    Array.from({ length: 30 }, (_, pass) => (random() < 0.2 ? null : cell + pass + 0.2 * random())),
  )
  const found = fitPassBlocks(observe(20, 30, (cell, pass) => values[cell]?.[pass] ?? null))
  const expected = fitTwoWay(values)
  for (const cell of [1, 2, 3, 4, 5, 6, 7])
    near(difference(found, cell, 0), expected.contrast(cell, 0)?.estimate ?? Number.NaN, 1e-6)
})

test('slices that are far off hardly move a cell', () => {
  const random = createRandom(1)
  const values = observe(14, 19, (cell, pass) => cell + Math.sin(pass) + 0.1 * drawNormal(random))
  const clean = fitPassBlocks(values)
  const spoiled = fitPassBlocks(
    values.map((one) => (one.cell === 3 && one.pass < 2 ? { ...one, value: one.value + 5 } : one)),
  )
  const moved = difference(spoiled, 3, 0) - difference(clean, 3, 0)
  // The mean would move by 10 / 19 = 0.53.
  assert.ok(Math.abs(moved) < 0.05, `${moved}`)
})

test('a pass with one cell changes no cell', () => {
  const random = createRandom(2)
  const values = observe(3, 5, (cell, pass) => cell + pass + 0.1 * drawNormal(random))
  const more = fitPassBlocks([...values, { cell: 1, pass: 5, value: 100 }])
  assert.deepEqual(more, fitPassBlocks(values))
})

test('cells that share no pass are groups of their own', () => {
  const found = fitPassBlocks(
    observe(5, 8, (cell, pass) => (cell < 2 === pass < 4 && cell !== 4 ? cell + pass : null)),
  )
  // Their level is that of their own passes: 0 to 3, and 4 to 7.
  for (const [cell, expected] of [1.5, 2.5, 2 + 5.5, 3 + 5.5].entries()) near(found[cell], expected)
})

test('nothing gives nothing, and a cell that was never measured has no value', () => {
  assert.deepEqual(fitPassBlocks([]), [])
  assert.deepEqual(fitPassBlocks([{ cell: 1, pass: 0, value: 2 }]), [null, 2])
})

test('a class of cells with a wider spread is clipped by its own scale', () => {
  const random = createRandom(5)
  // Cells 0 to 11 are exact to 0.01; cell 12 is in every sixth pass and varies by 0.5.
  const wide: Record<number, number> = { 5: 0.5, 11: -0.5, 17: 0.2 }
  const values = observe(13, 18, (cell, pass) => {
    const error = cell < 12 ? 0.01 * drawNormal(random) : wide[pass]
    return error === undefined ? null : cell + Math.sin(pass) + error
  })
  const own = fitPassBlocks(values, [...Array(12).fill(0), 1])
  near(difference(own, 12, 0), 12 + (0.5 - 0.5 + 0.2) / 3, 0.01)
  // With one scale, its slices would be clipped to 0.02, and its value would be the median.
  const shared = fitPassBlocks(values)
  assert.ok(difference(shared, 12, 0) > 12.15, `${difference(shared, 12, 0)}`)
  // The wide cell does not spoil the others.
  near(difference(own, 11, 0), 11, 0.002)
})

test('a few long slices that agree by chance do not pull their passes to themselves', () => {
  const random = createRandom(11)
  for (let run = 0; run < 200; run++) {
    const values = observe(15, 19, (cell, pass) =>
      cell < 14 ? cell + 0.07 * drawNormal(random) : pass % 6 === 5 ? 20 + 0.001 * drawNormal(random) : null,
    )
    near(difference(fitPassBlocks(values, [...Array<number>(14).fill(0), 1]), 14, 0), 20, 0.1)
  }
})
