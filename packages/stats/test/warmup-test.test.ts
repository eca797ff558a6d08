import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, type Random } from '../src/random.ts'
import { countFirst, findColdStarts, testWarmup, type WarmupLaunches } from '../src/warmup-test.ts'
import { drawNormal } from './draw-normal.ts'
import { near } from './near.ts'

/** Three launches of 19 slices of 50 ms. */
function measure(
  random: Random,
  sd: number,
  extra: (slice: number, launch: number) => number = () => 0,
): WarmupLaunches {
  return Array.from({ length: 3 }, (_, launch) =>
    Array.from({ length: 19 }, (_, slice) => ({
      seconds: 0.05,
      residual: sd * drawNormal(random) + extra(slice, launch),
    })),
  )
}

/** A cost that is 40 % higher at first and decays over 0.25 s of load. */
const decay = (slice: number) => Math.log1p(0.4 * Math.exp(-(slice + 0.5) * (0.05 / 0.25)))

test('the first slices are those that add up to 200 ms, at least one', () => {
  const slices = (seconds: number, count: number) => Array.from({ length: count }, () => ({ seconds }))
  assert.equal(countFirst(slices(0.05, 19)), 4)
  // Slices may end a little early.
  assert.equal(countFirst(slices(0.0495, 19)), 4)
  assert.equal(countFirst(slices(0.2, 3)), 1)
  assert.equal(countFirst(slices(1.5, 3)), 1)
  assert.equal(countFirst(slices(0.05, 2)), 2)
  assert.equal(countFirst([]), 1)
})

test('steady cells are hardly ever cold', () => {
  const random = createRandom(1)
  const runs = Array.from({ length: 200 }, () =>
    testWarmup(Array.from({ length: 42 }, () => measure(random, 0.25))),
  )
  const flagged = runs.filter((findings) => findings.some(({ cold }) => cold)).length
  // 1 % of 200 runs is 2; more than 8 has a chance of 1 in 5000.
  assert.ok(flagged <= 8, `${flagged} of 200`)
  const below = runs.flat().filter(({ p }) => (p ?? 1) < 0.05).length / (200 * 42)
  assert.ok(below > 0.04 && below < 0.06, `${below} of p-values are below 5 %`)
})

test('a cell that costs 40 % more at first is found where slices vary by 7 %', () => {
  const random = createRandom(2)
  const steady = Array.from({ length: 41 }, () => measure(random, 0.07))
  const [found, ...others] = testWarmup([measure(random, 0.07, decay), ...steady])
  assert.equal(found?.cold, true)
  assert.ok((found?.ratio ?? 0) > 1.15 && (found?.ratio ?? 0) < 1.3, `${found?.ratio}`)
  assert.deepEqual(
    others.filter(({ cold }) => cold),
    [],
  )
})

test('a cheap start, a small difference and one slow slice are not cold', () => {
  const random = createRandom(3)
  const steady = Array.from({ length: 10 }, () => measure(random, 0.02))
  const [cheap, small, single] = testWarmup([
    measure(random, 0.02, (slice) => -decay(slice)),
    measure(random, 0.002, (slice) => (slice < 4 ? 0.04 : 0)),
    measure(random, 0.02, (slice, launch) => (slice === 0 && launch === 0 ? 2 : 0)),
    ...steady,
  ])
  assert.ok((cheap?.p ?? 0) > 0.99)
  assert.ok((small?.pAdjusted ?? 1) < 0.01, 'it is certain, but below 5 %')
  assert.deepEqual([cheap?.cold, small?.cold, single?.cold], [false, false, false])
})

test('a noisy cell among exact ones is judged by its own noise', () => {
  const random = createRandom(4)
  let flagged = 0
  for (let run = 0; run < 100; run++) {
    const exact = Array.from({ length: 20 }, () => measure(random, 0.02))
    if (testWarmup([measure(random, 0.3), ...exact])[0]?.cold) flagged += 1
  }
  assert.ok(flagged <= 3, `${flagged} of 100`)
})

test('without later slices nothing is tested, and long slices are compared one by one', () => {
  const one = { seconds: 1, residual: 0.5 }
  const [none, empty] = testWarmup([[[one]], []])
  assert.deepEqual(none, { ratio: null, p: null, pAdjusted: null, cold: false })
  assert.deepEqual(empty, none)
  const [long] = testWarmup([[[one, { seconds: 1, residual: 0.1 }, { seconds: 1, residual: -0.1 }]]])
  near(long?.ratio, Math.exp(0.5))
  assert.ok(long?.p !== null)
})

test('of a cold cell the first slices are dropped until it is steady, of others nothing', () => {
  const random = createRandom(6)
  const steady = Array.from({ length: 20 }, () => measure(random, 0.02))
  const slow = (slice: number) => 2 * Math.exp(-slice / 2)
  const forever = (slice: number) => -0.1 * slice
  const [cold, never, ...others] = findColdStarts([
    measure(random, 0.02, slow),
    measure(random, 0.02, forever),
    ...steady,
  ])
  assert.deepEqual([cold?.cold, cold?.steady], [true, true])
  const [drop = 0] = cold?.drop ?? []
  assert.ok(drop >= 8 && drop < 19 && drop % 4 === 0, `${drop}`)
  assert.deepEqual([never?.cold, never?.steady], [true, false])
  for (const other of others) assert.deepEqual([other.drop, other.steady], [[0, 0, 0], true])
})

test('in a short run, where too little is left to test, what is left counts', () => {
  const random = createRandom(6)
  const short = (extra = (_: number) => 0) =>
    Array.from({ length: 5 }, () => measure(random, 0.02, extra))
      .flat()
      .map((slices) => slices.slice(0, 6))
  const [cold] = findColdStarts([
    short((slice) => (slice < 4 ? 0.4 : 0)),
    ...Array.from({ length: 20 }, () => short()),
  ])
  assert.deepEqual([cold?.cold, cold?.steady], [true, true])
  assert.deepEqual(new Set(cold?.drop), new Set([4]))
})
