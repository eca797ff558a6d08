import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { readOptions } from '../../src/cli/options.ts'
import { planCells } from '../../src/plan/cells.ts'
import { cutSlices, longestIdleMs, scheduleSlices, scheduleWarmup } from '../../src/plan/schedule.ts'

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

describe('measured slices', () => {
  const planned = cells.map((cell) => ({ cell, slices: 3, durationMs: 200 }))

  test('every pass has every cell once', () => {
    const order = scheduleSlices(planned, createRandom(1)).map(({ cell }) => cell.id)
    for (let pass = 0; pass < 3; pass++) {
      const part = order.slice(pass * cells.length, (pass + 1) * cells.length)
      assert.deepEqual(part.toSorted(), idsOf(cells).toSorted())
    }
  })

  test('no app idles for 5 s, whatever the seed', () => {
    for (let seed = 0; seed < 200; seed++) {
      assert.ok(longestIdleMs(scheduleSlices(planned, createRandom(seed))) <= 5000, `seed ${seed}`)
    }
  })

  test('idle time counts per app, from the end of one slice to the next', () => {
    const [first, second, third] = cells
    assert.ok(first && second && third && first.app === second.app)
    const slice = (cell: typeof first, durationMs: number) => ({ cell, durationMs })
    assert.equal(longestIdleMs([slice(first, 100), slice(third, 700), slice(second, 100)]), 700)
    assert.equal(longestIdleMs([slice(third, 300), slice(first, 100)]), 300)
  })

  test('slow cells come once where others come three times', () => {
    const [slow, ...others] = planned
    assert.ok(slow)
    const order = scheduleSlices([{ ...slow, slices: 1, durationMs: 2300 }, ...others], createRandom(3))
    assert.equal(order.filter(({ cell }) => cell === slow.cell).length, 1)
    assert.equal(order.find(({ cell }) => cell === slow.cell)?.durationMs, 2300)
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
