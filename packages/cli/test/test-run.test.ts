import { deepEqual, equal, notDeepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { sample } from '../src/test-run.ts'

const ITEMS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const short = (seed: number) => ({ full: false, seed, framework: undefined })

test('a full run tries everything, a short one so many, in the order of the list', () => {
  deepEqual(sample('x', ITEMS, 2, { full: true, seed: 1, framework: undefined }), ITEMS)
  deepEqual(sample('x', ITEMS, 9, short(1)), ITEMS)
  for (const seed of [1, 20_779, 2 ** 31]) {
    const chosen = sample('x', ITEMS, 3, short(seed))
    equal(chosen.length, 3)
    deepEqual(chosen, chosen.toSorted())
    deepEqual(chosen, sample('x', ITEMS, 3, short(seed)))
  }
})

test('the next seeds try the rest', () => {
  for (const count of [1, 2, 3, 4, 6]) {
    const runs = Array.from({ length: Math.ceil(ITEMS.length / count) }, (_, index) => index + 40)
    deepEqual(
      new Set(runs.flatMap((seed) => sample('x', ITEMS, count, short(seed)))),
      new Set(ITEMS),
      `${count} at a time`,
    )
  }
})

test('samples with other names are other samples', () => {
  notDeepEqual(sample('one', ITEMS, 2, short(1)), sample('other', ITEMS, 2, short(1)))
})
