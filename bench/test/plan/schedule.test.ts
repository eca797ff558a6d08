import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { readOptions } from '../../src/cli/options.ts'
import { planCells } from '../../src/plan/cells.ts'
import { cutSlices, fitSlices, schedulePasses, scheduleWarmup } from '../../src/plan/schedule.ts'

const cells = planCells(readOptions(['--role', 'hello']))
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id)

describe('warm-up', () => {
  test('every cell has the load that it needs, and ends it in the last pass', () => {
    const order = scheduleWarmup(cells, createRandom(1))
    for (const cell of cells) {
      assert.equal(order.filter((one) => one === cell).length, Math.ceil(cell.warmupMs / 250), cell.id)
    }
    assert.deepEqual(idsOf(order.slice(-cells.length)).toSorted(), idsOf(cells).toSorted())
  })

  test('the order differs from seed to seed', () => {
    const order = (seed: number) => String(idsOf(scheduleWarmup(cells, createRandom(seed))))
    assert.equal(order(1), order(1))
    assert.notEqual(order(1), order(2))
  })
})

describe('passes', () => {
  const planned = cells.map((cell) => ({ cell, every: 1, durationMs: 50 }))

  test('every pass has every cell once, in another order', () => {
    const passes = schedulePasses(planned, 19, createRandom(1))
    assert.equal(passes.length, 19)
    for (const pass of passes)
      assert.deepEqual(idsOf(pass.map(({ cell }) => cell)).toSorted(), idsOf(cells).toSorted())
    assert.ok(new Set(passes.map((pass) => String(idsOf(pass.map(({ cell }) => cell))))).size > 15)
  })

  test('a cell with long slices joins every k-th pass, at its end', () => {
    const [slow, ...others] = planned
    assert.ok(slow)
    const long = { ...slow, every: 6, durationMs: 600 }
    const passes = schedulePasses([long, ...others], 19, createRandom(3))
    const joined = passes.flatMap((pass, index) => (pass.includes(long) ? [index] : []))
    assert.deepEqual(joined, [5, 11, 17])
    for (const index of joined) assert.equal(passes[index]?.at(-1), long)
  })

  test('a slice lasts at least 4 connections / rate, and is measured about as long as others, three times at least', () => {
    const [cell] = cells
    assert.ok(cell)
    const settings = { slices: 19, sliceMs: 50 }
    const fit = (connections: number, rate: number) => {
      const { every, durationMs } = fitSlices({ ...cell, connections }, rate, settings)
      return [every, durationMs]
    }
    assert.deepEqual(fit(64, 50_000), [1, 50])
    assert.deepEqual(fit(64, 0), [1, 50])
    assert.deepEqual(fit(64, 1280), [4, 200])
    assert.deepEqual(fit(8, 54), [6, 593])
  })
})

describe('cutting the time of a cell', () => {
  const settings = { slices: 3, sliceMs: 200 }

  test('fast cells have what was asked for', () => {
    assert.deepEqual(cutSlices({ connections: 64 }, 50_000, settings), { slices: 3, durationMs: 200 })
    assert.deepEqual(cutSlices({ connections: 64 }, 0, settings), { slices: 3, durationMs: 200 })
  })

  test('a slice lasts at least 8 connections / rate', () => {
    assert.deepEqual(cutSlices({ connections: 64 }, 2000, settings), { slices: 2, durationMs: 256 })
    assert.deepEqual(cutSlices({ connections: 16 }, 56, settings), { slices: 1, durationMs: 2286 })
  })
})
