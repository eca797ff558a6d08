import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../src/cli/options.ts'
import { heatsThatFit, heatsWithin, leastTimeMs, passesWithin, shareOf } from '../../src/experiment/budget.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'

const heatsUpTo = (last: number) =>
  Array.from({ length: last }, (_, index) => index + 1).flatMap((heat) =>
    ['hello', 'ssr'].map((role) => ({ role, heat, fullMs: 30_000, halfMs: 20_000, shortMs: 15_000 })),
  )
const heats = heatsUpTo(3)

test('the third heat of every role is run if a few passes of each fit', () => {
  assert.equal(heatsThatFit(heats, 90_000).length, 6)
  assert.equal(heatsThatFit(heats, 89_000).length, 5)
  assert.equal(heatsThatFit(heats, Number.POSITIVE_INFINITY).length, 6)
})

test('more heats are run if half of the passes of all fit', () => {
  assert.equal(heatsThatFit(heatsUpTo(5), 160_000).length, 8)
  assert.equal(heatsThatFit(heatsUpTo(5), 159_000).length, 7)
  assert.equal(heatsThatFit(heatsUpTo(5), 139_000).length, 6)
})

test('the first two heats of every role are never dropped', () => {
  assert.equal(heatsThatFit(heats, 30_000).length, 4)
  assert.equal(heatsThatFit(heats, -1).length, 4)
  assert.deepEqual(heatsThatFit(heats.slice(4), 10_000), [])
})

test('heats share the time by what they need', () => {
  const [one, other] = [
    { heat: 1, fullMs: 10_000, halfMs: 1, shortMs: 1 },
    { heat: 1, fullMs: 30_000, halfMs: 1, shortMs: 1 },
  ]
  assert.equal(shareOf([one, other], 20_000), 5000)
  assert.equal(shareOf([other, one], 20_000), 15_000)
  assert.equal(shareOf([other], Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY)
})

const options = readOptions([])
const plan = {
  cells: planCells(gridExperiment(options)),
  settings: { ...options, openLoop: null },
  mode: 'native',
} as const

test('more time gives more heats, and few frameworks all passes of each', () => {
  assert.equal(heatsWithin(300_000, plan), 3)
  assert.ok(heatsWithin(600_000, plan) > 3)
  const { cells } = plan
  const few = { ...plan, cells: cells.filter(({ app }) => /^(node|fastify)\//.test(app)) }
  assert.ok(heatsWithin(300_000, few) > 6)
  assert.equal(passesWithin(300_000, few, 3), options.slices)
  assert.ok(passesWithin(300_000, { ...plan, cells: [...cells, ...cells] }, 3) < options.slices)
  assert.equal(heatsWithin(1000, plan), 2)
  assert.equal(heatsWithin(86_400_000, plan), 100)
})

test('the least time is that of two heats of every role with a few passes', () => {
  const least = leastTimeMs(plan)
  assert.ok(least > 60_000 && least < 200_000, `${least}`)
  assert.ok(least > leastTimeMs({ ...plan, cells: plan.cells.filter(({ role }) => role === 'hello') }))
})
