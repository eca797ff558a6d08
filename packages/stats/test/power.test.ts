import assert from 'node:assert/strict'
import { test } from 'node:test'
import { powerOf, smallestDifference } from '../src/power.ts'
import { createRandom } from '../src/random.ts'
import { tQuantile } from '../src/student.ts'
import { near } from './near.ts'

test('power is that of R', () => {
  // The examples of R's ?power.t.test: power.t.test(n = 20, delta = 1) has power 0.8689528, and
  // power.t.test(power = 0.90, delta = 1) has n = 22.02110.
  near(powerOf(1 / Math.sqrt(2 / 20), 38, 0.05), 0.8689528, 1e-7)
  const n = 22.0211
  near(smallestDifference(2 * n - 2, 0.05, 0.9) * Math.sqrt(2 / n), 1, 1e-6)
})

test('without a difference, the power in one direction is half the level', () => {
  for (const df of [1, 1.5, 3, 21, 400]) near(powerOf(0, df, 0.05), 0.025, 1e-6)
})

test('what can be shown is found again', () => {
  for (const df of [1, 2.7, 21])
    for (const level of [0.05, 0.05 / 21])
      near(powerOf(smallestDifference(df, level, 0.8), df, level), 0.8, 1e-9)
})

test('many degrees of freedom come close to the normal distribution', () => {
  // z(0.975) + z(0.8) = 1.959964 + 0.841621.
  near(smallestDifference(1e5, 0.05, 0.8), 2.801585, 1e-4)
})

test('with one degree of freedom, as simulated', () => {
  const random = createRandom(5)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const critical = tQuantile(0.975, 1)
  const runs = 100_000
  let shown = 0
  for (let run = 0; run < runs; run++) if ((10 + normal()) / Math.abs(normal()) > critical) shown += 1
  assert.ok(Math.abs(shown / runs - powerOf(10, 1, 0.05)) < 0.006, `${shown / runs}`)
})
