import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallestDifference } from '../src/power.ts'
import { createRandom } from '../src/random.ts'
import { tQuantile } from '../src/student.ts'
import { near } from './near.ts'

test('what can be shown is what R says', () => {
  // The examples of R's ?power.t.test: power.t.test(n = 20, delta = 1) has power 0.8689528, and
  // power.t.test(power = 0.90, delta = 1) has n = 22.02110.
  for (const [n, power] of [
    [20, 0.8689528],
    [22.0211, 0.9],
  ] as const)
    near(smallestDifference(2 * n - 2, 0.05, power) * Math.sqrt(2 / n), 1, 1e-6)
})

test('many degrees of freedom come close to the normal distribution', () => {
  // z(0.975) + z(0.8) = 1.959964 + 0.841621.
  near(smallestDifference(1e5, 0.05, 0.8), 2.801585, 1e-4)
})

test('with one degree of freedom, as simulated', () => {
  const random = createRandom(5)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const [critical, difference] = [tQuantile(0.975, 1), smallestDifference(1, 0.05, 0.6)]
  const runs = 100_000
  let shown = 0
  for (let run = 0; run < runs; run++) if ((difference + normal()) / Math.abs(normal()) > critical) shown += 1
  assert.ok(Math.abs(shown / runs - 0.6) < 0.008, `${shown / runs}`)
})
