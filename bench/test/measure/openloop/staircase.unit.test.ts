import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom, type Random } from '@startgrid/stats/random.ts'
import { highestKept, type Outcome, RUNG } from '../../../src/judge/openloop/capacity-figures.ts'
import {
  advance,
  createStaircase,
  nextRate,
  type Staircase,
  type StaircaseOptions,
} from '../../../src/measure/openloop/staircase.ts'

type Server = (rate: number) => Outcome

const SEARCH = { stride: 4, maxSteps: 12 }

function climb(server: Server, options: Partial<StaircaseOptions> & { start: number }): Staircase {
  let staircase = createStaircase({ ...SEARCH, ...options })
  for (let rate = nextRate(staircase); rate !== null; rate = nextRate(staircase))
    staircase = advance(staircase, server(rate))
  return staircase
}

/** Keeps every rate up to its capacity. */
function steady(capacity: number): Server {
  return (rate) => (rate <= capacity ? 'kept' : 'failed')
}

/** What many searches found, as logarithms of the ratio to the truth; those that found nothing are left out. */
function search(server: Server, truth: number, random: Random, runs: number): number[] {
  const found: number[] = []
  for (let run = 0; run < runs; run++) {
    const { steps } = climb(server, { start: truth * (0.8 + 0.3 * random()) })
    const limit = highestKept(steps)
    if (limit !== null) found.push(Math.log(limit / truth))
  }
  assert.ok(found.length >= runs * 0.98, `${found.length} of ${runs} found a rate`)
  return found
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function spread(values: readonly number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}

/**
 * A server with constant service time 1 and Poisson arrivals (M/D/1): 99th percentile of the time in it, by Lindley's recursion over
 * this many arrivals.
 */
function p99OfQueue(rate: number, arrivals: number, random: Random): number {
  const times = new Float64Array(arrivals)
  let wait = 0
  for (let arrival = 0; arrival < arrivals; arrival++) {
    times[arrival] = wait + 1
    wait = Math.max(0, wait + 1 + Math.log(1 - random()) / rate)
  }
  return times.sort()[Math.floor(arrivals * 0.99)] ?? Number.NaN
}

describe('a staircase', () => {
  test('brackets the capacity of a steady server within one rung, and visits both sides twice', () => {
    for (const start of [500, 900, 1000, 1100, 1800]) {
      const { steps, end } = climb(steady(1000), { start, maxSteps: 20 })
      const found = highestKept(steps) ?? 0
      assert.equal(end, 'settled', `from ${start}`)
      assert.ok(found <= 1000 && found * RUNG > 999, `from ${start}: ${found}`)
      const above = Math.min(...steps.map(({ rate }) => rate).filter((rate) => rate > found))
      assert.ok(steps.filter(({ rate }) => rate === found).length >= 2)
      assert.ok(steps.filter(({ rate }) => rate === above).length >= 2)
    }
  })

  test('goes up after a step that kept, down after one that did not, by strides that halve at reversals', () => {
    const { steps } = climb(steady(1000), { start: 900, stride: 4 })
    const rungs = steps.map(({ rate }) => Math.round(Math.log(rate / 900) / Math.log(RUNG)))
    // 900 × 1.02 ** 5 = 994 is kept, 1.02 ** 6 is not
    assert.deepEqual(rungs, [0, 4, 8, 6, 4, 5, 6, 5])
  })

  test('takes longer strides from the third step in one direction on', () => {
    const { steps } = climb(steady(10_000), { start: 1000, stride: 1, maxSteps: 6 })
    const rungs = steps.map(({ rate }) => Math.round(Math.log(rate / 1000) / Math.log(RUNG)))
    assert.deepEqual(rungs, [0, 1, 2, 4, 8, 16])
  })

  test('finds the rate at which a queue keeps its p99, without bias beyond a rung', () => {
    const random = createRandom(11)
    const boundInServiceTimes = 20
    // The truth by halving, on stretches long enough that chance does not matter.
    let [low, high] = [0.5, 0.99]
    for (let step = 0; step < 7; step++) {
      const middle = (low + high) / 2
      if (p99OfQueue(middle, 200_000, random) <= boundInServiceTimes) low = middle
      else high = middle
    }
    const truth = (low + high) / 2
    const server: Server = (rate) =>
      p99OfQueue(rate, 10_000, random) <= boundInServiceTimes ? 'kept' : 'failed'
    const found = search(server, truth, random, 24)
    assert.ok(Math.abs(mean(found)) < 0.02, `bias ${mean(found)}`)
    assert.ok(spread(found) < 0.04, `spread ${spread(found)}`)
  })

  test('is not decided by one step in ten that fails for no reason', () => {
    const random = createRandom(12)
    const server: Server = (rate) => (random() < 0.1 ? 'failed' : steady(1000)(rate))
    const found = search(server, 1000, random, 300)
    const median = found.toSorted((a, b) => a - b)[150] ?? Number.NaN
    assert.ok(Math.abs(median) < 0.02, `median ${median}`)
    assert.ok(found.filter((error) => Math.abs(error) < 0.05).length > 270, 'nine in ten are within 5 %')
  })

  test('settles on a server whose capacity moves by 3 % from step to step, with little bias', () => {
    const random = createRandom(13)
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const found = search((rate) => steady(1000 * Math.exp(0.03 * normal()))(rate), 1000, random, 400)
    assert.ok(mean(found) > -0.025 && mean(found) < 0.01, `bias ${mean(found)}`)
    assert.ok(spread(found) < 0.03, `spread ${spread(found)}`)
  })

  test('gives up where not even the lowest rung is kept', () => {
    const { steps, end } = climb(() => 'failed', { start: 1000, maxSteps: 30 })
    assert.equal(end, 'never')
    assert.equal(highestKept(steps), null)
    assert.ok(Math.min(...steps.map(({ rate }) => rate)) < 50)
  })

  test('ends at what the generator can offer where the server keeps everything', () => {
    const { steps, end } = climb((rate) => (rate <= 1500 ? 'kept' : 'bound'), { start: 900, maxSteps: 20 })
    const found = highestKept(steps) ?? 0
    assert.equal(end, 'generator')
    assert.ok(found <= 1500 && found * RUNG > 1499, `${found}`)
  })

  test('repeats a void step at the same rate, and does not learn from it', () => {
    const before = advance(createStaircase({ start: 1000, ...SEARCH }), 'kept')
    const after = advance(before, 'void')
    assert.equal(nextRate(after), nextRate(before))
    assert.equal(nextRate(advance(after, 'kept')), nextRate(advance(before, 'kept')))
    assert.equal(highestKept(after.steps), highestKept(before.steps))
  })

  test('is given up after three void steps in a row, but not after two', () => {
    const one = advance(createStaircase({ start: 1000, ...SEARCH }), 'void')
    const two = advance(one, 'void')
    assert.equal(two.end, null)
    assert.equal(advance(two, 'void').end, 'unsettled')
    assert.equal(advance(advance(two, 'kept'), 'void').end, null)
  })

  test('ends when its steps are used up, and stays as it is then', () => {
    const { steps, end } = climb(steady(1e9), { start: 1, maxSteps: 5 })
    assert.equal(end, 'unsettled')
    assert.equal(steps.length, 5)
    const over = climb(steady(1000), { start: 900 })
    assert.equal(nextRate(over), null)
    assert.equal(advance(over, 'kept'), over)
  })

  test('refuses a start, stride or number of steps that makes no sense', () => {
    for (const wrong of [
      { start: 0 },
      { start: Number.NaN },
      { stride: 0 },
      { stride: 1.5 },
      { maxSteps: 0 },
    ])
      assert.throws(() => createStaircase({ start: 100, ...SEARCH, ...wrong }), RangeError)
  })
})
