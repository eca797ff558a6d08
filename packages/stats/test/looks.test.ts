import assert from 'node:assert/strict'
import { test } from 'node:test'
import { levelAt, planLooks } from '../src/looks.ts'
import { createRandom } from '../src/random.ts'
import { near } from './near.ts'

test('looks come after twice as many starts each, and none just before the end', () => {
  assert.deepEqual(
    [40, 22, 12, 7, 5].map((most) => planLooks(5, most)),
    [[5, 10, 20, 40], [5, 10, 22], [5, 12], [7], [5]],
  )
})

test('one look has the whole level; the first of several what is spent by then', () => {
  near(levelAt([], 9, 0.05), 0.05)
  near(levelAt([12], 12, 0.05), 0.05)
  near(levelAt([5, 20], 5, 0.05), 0.025)
})

test('all looks together reject what is true as often as the level says, also where time was over between two of them', () => {
  const random = createRandom(1)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const planned = [5, 10, 22]
  for (const looks of [planned, [5, 10, 17]]) {
    const levels = looks.map((starts) => levelAt(planned, starts, 0.05))
    // Two-sided, of a standard normal: by bisection of its tail, which is what `levelAt` does not use.
    const bounds = levels.map((level) => tailInverse(level))
    const runs = 100_000
    let rejected = 0
    for (let run = 0; run < runs; run++) {
      let [sum, made] = [0, 0]
      rejected += Number(
        looks.some((starts, index) => {
          for (; made < starts; made++) sum += normal()
          return Math.abs(sum) / Math.sqrt(starts) > (bounds[index] ?? 0)
        }),
      )
    }
    assert.ok(Math.abs(rejected / runs - 0.05) < 4 * Math.sqrt((0.05 * 0.95) / runs), `${rejected}`)
  }
})

/** The z whose two-sided tail this is, by Simpson's rule on the density. */
function tailInverse(level: number): number {
  const step = 1e-4
  let [z, tail] = [0, 1]
  for (; tail > level; z += step)
    tail -= 2 * (step / Math.sqrt(2 * Math.PI)) * Math.exp(-((z + step / 2) ** 2) / 2)
  return z
}
