import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { readOptions } from '../../src/cli/options.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
import { fitPasses, schedulePasses, scheduleWarmup } from '../../src/experiment/schedule.ts'

const cells = planCells(gridExperiment(readOptions(['--role', 'hello'])))
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

  test('a cell with long slices joins every k-th pass from the first on, at its end', () => {
    const [slow, ...others] = planned
    assert.ok(slow)
    const long = { ...slow, every: 6, durationMs: 600 }
    const passes = schedulePasses([long, ...others], 19, createRandom(3))
    const joined = passes.flatMap((pass, index) => (pass.includes(long) ? [index] : []))
    assert.deepEqual(joined, [0, 6, 12])
    for (const index of joined) assert.equal(passes[index]?.at(-1), long)
  })

  const settings = { slices: 19, sliceMs: 50 }
  const [cell] = cells
  assert.ok(cell)
  const fast = { cell, rate: 50_000 }
  const slow = (connections: number, rate: number) => ({ ...fast, cell: { ...cell, connections }, rate })

  test('a slice lasts at least 4 connections / rate, and is measured about as long as others, three times at least', () => {
    const fit = (connections: number, rate: number) => {
      const { passes, cells: fitted } = fitPasses([fast, slow(connections, rate)], settings)
      return [passes, fitted[1]?.every, fitted[1]?.durationMs]
    }
    assert.deepEqual(fit(64, 50_000), [19, 1, 50])
    assert.deepEqual(fit(64, 0), [19, 1, 50])
    assert.deepEqual(fit(64, 1280), [19, 4, 200])
    assert.deepEqual(fit(8, 54), [19, 6, 593])
    assert.deepEqual(fit(64, 20), [19, 6, 2000], 'a warm-up that others took decides nothing for long')
  })

  test('a study that asks for slices of seconds gets one', () => {
    const long = { ...fast, cell: { ...cell, leastSliceMs: 5000 } }
    const { passes, cells: fitted } = fitPasses([long], settings)
    assert.deepEqual([passes, fitted[0]?.every, fitted[0]?.durationMs], [1, 1, 5000])
  })
})
