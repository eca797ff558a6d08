import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, shuffle } from '../src/random.ts'

const items = Array.from({ length: 42 }, (_, index) => index)

test('a seed repeats its numbers, another one has others', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed)
    return items.map(() => random())
  }
  assert.deepEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
  for (const number of [...draw(0), ...draw(2 ** 32 - 1)]) assert.ok(number >= 0 && number < 1)
})

test('every item can come to every place', () => {
  const seen = new Set<string>()
  const random = createRandom(3)
  for (let run = 0; run < 200; run++)
    for (const [place, item] of shuffle(['a', 'b', 'c'], random).entries()) seen.add(`${item}${place}`)
  assert.equal(seen.size, 9)
})
