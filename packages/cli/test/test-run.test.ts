import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { isDue, oneRunIn, sample } from '../src/test-run.ts'

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

test('a proof is due in every full run, and in one of so many short ones', () => {
  ok(isDue('x', 3, { run: { full: true, seed: 1, framework: undefined } }))
  for (const runs of [2, 3, 5]) {
    const due = Array.from({ length: runs }, (_, index) => isDue('x', runs, { run: short(70 + index) }))
    equal(due.filter(Boolean).length, 1)
  }
})

test('proofs that take turns are due one after the other', () => {
  for (const seed of [70, 71, 72]) {
    const due = [0, 1, 2].filter((turn) => isDue('x', 3, { turn, run: short(seed) }))
    equal(due.length, 1, `${due}`)
  }
})

test('the runs in which a proof is due try all items, also where their number has a factor in common', () => {
  const items = ITEMS.slice(0, 6)
  const due = Array.from({ length: 4 * items.length }, (_, index) => short(70 + index)).filter((run) =>
    isDue('x', 4, { run }),
  )
  deepEqual(new Set(due.flatMap((run) => sample('y', items, 1, oneRunIn(4, run)))), new Set(items))
  ok(oneRunIn(4, { full: true, seed: 1, framework: undefined }).full)
})
