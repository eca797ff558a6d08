import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Design, forecast, type Spin } from '../src/forecast.ts'
import { createRandom } from '../src/random.ts'
import { drawNormal } from './draw-normal.ts'
import { near } from './near.ts'

const DESIGN: Design = { cells: 16, rows: 8, passes: 19, sliceSeconds: 0.05, stepSeconds: 0.062 }

/** 5 s of spins of 2 ms, one every 20 ms. */
function trace(logCost: (at: number) => number): Spin[] {
  return Array.from({ length: 250 }, (_, index) => ({
    at: index * 0.02,
    cpuSeconds: 0.002 * Math.exp(logCost(index * 0.02)),
  }))
}

/** Busy for 1.6 s of every 2.2 s. */
const twoStates = (at: number) => (at % 2.2 < 1.6 ? 0.45 : 0)

test('a steady core: what is left is the noise of slices and launches', () => {
  const { spread, halfWidth } = forecast([trace(() => 0)], DESIGN)
  assert.equal(spread, 1)
  // Launch 0.016, slice 0.035 × 2 and 0.02, 19 passes, 3 heats; t of 14 degrees of freedom is 2.1448.
  const error = Math.sqrt((2 * (0.016 ** 2 + (0.07 ** 2 + 0.02 ** 2) / 19)) / 3)
  near(halfWidth(3), Math.expm1(2.144787 * error), 1e-6)
})

test('the error of a spin is not taken for a change of speed', () => {
  const random = createRandom(1)
  const steady = forecast([trace(() => 0)], DESIGN).halfWidth(3)
  const found = forecast([trace(() => 0.03 * drawNormal(random))], DESIGN).halfWidth(3)
  assert.ok(found / steady < 1.15, `${found / steady}`)
})

test('a core that changes its speed within seconds: the spread says by how much, and intervals are wide', () => {
  const { spread, halfWidth } = forecast([trace(twoStates)], DESIGN)
  near(spread, Math.exp(0.45))
  assert.ok(halfWidth(3) > 0.09 && halfWidth(3) < 0.16, `${halfWidth(3)}`)
})

test('a slow change costs nothing: cells are compared within passes', () => {
  const slow = (at: number) => 0.2 * Math.sin(at / 10)
  const { halfWidth } = forecast([trace(slow)], DESIGN)
  assert.ok(halfWidth(3) < 0.07, `${halfWidth(3)}`)
})

test('each core counts for half: a second one that varies alike widens nothing, and a steady one halves the variance', () => {
  const [noisy, steady] = [trace(twoStates), trace(() => 0)]
  const widthOf = (...cores: Spin[][]) => Math.log1p(forecast(cores, DESIGN).halfWidth(3))
  near(widthOf(noisy, noisy), widthOf(noisy), 1e-12)
  near(2 * widthOf(noisy, steady) ** 2, widthOf(noisy) ** 2 + widthOf(steady) ** 2, 1e-12)
})

test('more heats give narrower intervals, and the fewest that suffice are named', () => {
  const { halfWidth, heatsFor } = forecast([trace(twoStates)], DESIGN)
  assert.ok(halfWidth(6) < halfWidth(3) / Math.SQRT2)
  const heats = heatsFor(0.05) ?? 0
  assert.ok(halfWidth(heats) <= 0.05 && halfWidth(heats - 1) > 0.05, `${heats}`)
  assert.equal(heatsFor(1e-6), null)
})

test('too little is refused', () => {
  assert.throws(() => forecast([trace(() => 0).slice(0, 19)], DESIGN), RangeError)
  assert.throws(() => forecast([trace(() => 0)], DESIGN).halfWidth(1), RangeError)
})
