import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../src/cli/options.ts'
import { heatsWithin, leastTimeMs } from '../../src/experiment/budget.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
import { createResult } from '../../src/experiment/result.ts'

const options = readOptions([])
const plan = createResult(gridExperiment(options), options, '')

test('more time gives more heats', () => {
  assert.equal(heatsWithin(320_000, plan), 3)
  assert.ok(heatsWithin(600_000, plan) > 3)
  const few = { ...plan, cells: plan.cells.filter(({ app }) => /^(node|fastify)\//.test(app)) }
  assert.ok(heatsWithin(300_000, few) > 6)
  assert.equal(heatsWithin(1000, plan), 2)
  assert.equal(heatsWithin(86_400_000, plan), 100)
})

test('the least time is that of two heats of every role', () => {
  const least = leastTimeMs(plan)
  assert.ok(least > 120_000 && least < 240_000, `${least}`)
  assert.ok(least > leastTimeMs({ ...plan, cells: plan.cells.filter(({ role }) => role === 'hello') }))
})
