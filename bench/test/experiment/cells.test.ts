import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APPS, ROLES } from '@startgrid/grid/apps.ts'
import { describePlan } from '../../src/cli/measure.ts'
import { readOptions } from '../../src/cli/options.ts'
import { heatsWithin, leastTimeMs } from '../../src/experiment/budget.ts'
import { expectedHeatMs, planCells, planHeats } from '../../src/experiment/cells.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
import { createResult } from '../../src/experiment/result.ts'

const plan = (...args: string[]) => planCells(gridExperiment(readOptions(args)))

describe('cells', () => {
  test('every app in both topologies, and one twin per role', () => {
    const cells = plan()
    assert.equal(cells.length, (APPS.length + ROLES.length) * 2)
    assert.equal(new Set(cells.map(({ id }) => id)).size, cells.length)
    const twins = cells.filter(({ twinOf }) => twinOf !== null).map(({ id, twinOf }) => [id, twinOf])
    assert.deepEqual(twins.slice(0, 2), [
      ['node/hello#2 direct', 'node/hello'],
      ['node/hello#2 nginx', 'node/hello'],
    ])
    assert.equal(twins.length, 6)
  })

  test('the twin runs what its original runs; without node it is the first app', () => {
    const [twin] = plan('--only', 'koa/ssr,bun/ssr').filter(({ twinOf }) => twinOf !== null)
    assert.equal(twin?.app, 'koa/ssr#2')
    assert.equal(twin?.twinOf, 'koa/ssr')
  })

  test('the first topology of a launch carries the warm-up, the others only their own path', () => {
    const lengths = plan('--only', 'node/hello,bun/hello', '--topology', 'nginx,direct,nginx-tls').map(
      ({ app, topology, warmupMs }) => [app, topology, warmupMs],
    )
    assert.deepEqual(lengths.slice(0, 6), [
      ['node/hello', 'nginx', 1000],
      ['node/hello', 'direct', 250],
      ['node/hello', 'nginx-tls', 250],
      ['bun/hello', 'nginx', 250],
      ['bun/hello', 'direct', 250],
      ['bun/hello', 'nginx-tls', 250],
    ])
  })

  test('connections by role, or as given', () => {
    const connections = (...args: string[]) => [...new Set(plan(...args).map((cell) => cell.connections))]
    assert.deepEqual(connections(), [64, 8])
    assert.deepEqual(connections('--connections', '8'), [8])
  })
})

describe('heats', () => {
  test('every role has its n-th heat before any has its next', () => {
    const heats = planHeats(['hello', 'ssr', 'status'], 4, 1)
    assert.deepEqual(
      heats.map(({ heat }) => heat),
      [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
    )
    for (let n = 0; n < 12; n += 3) {
      assert.deepEqual(
        heats
          .slice(n, n + 3)
          .map(({ race }) => race)
          .toSorted(),
        ['hello', 'ssr', 'status'],
      )
    }
  })

  test('the same seed gives the same plan, however many heats', () => {
    assert.deepEqual(planHeats(['hello', 'ssr'], 4, 7), planHeats(['hello', 'ssr'], 9, 7).slice(0, 8))
    const orders = Array.from({ length: 20 }, (_, seed) =>
      planHeats(['hello', 'ssr'], 4, seed).map(({ race }) => race),
    )
    assert.ok(new Set(orders.map(String)).size > 10)
  })

  test('a heat takes under eight seconds per launch in every profile', () => {
    for (const words of [[], ['--quick']]) {
      const options = readOptions(words)
      const { cells, settings } = createResult(gridExperiment(options), options, '')
      for (const role of ['hello', 'ssr', 'status']) {
        const own = cells.filter((cell) => cell.role === role)
        assert.ok(expectedHeatMs(own, settings) < 8000 * (options.apps.length / 3 + 1), `${words} ${role}`)
      }
    }
  })

  test('the profiles keep the times that they promise', () => {
    const total = (...words: string[]) => {
      const options = readOptions(words)
      const { cells, settings } = createResult(gridExperiment(options), options, '')
      return settings.heats * expectedHeatMs(cells, settings)
    }
    assert.ok(total('--quick') < 45_000, String(total('--quick')))
    assert.ok(total() < 305_000, String(total()))
  })
})

test('a dry run tells systems, starts, time and what to expect', () => {
  const options = readOptions([])
  const experiment = gridExperiment(options)
  const text = describePlan('Grid', experiment, createResult(experiment, options, ''))
  assert.match(text, /A default run shows differences of about 10 %/)
  assert.match(text, /^Grid: 3 starts of every system, about \d+:\d\d \(minutes:seconds\)/)
  assert.match(text, /^ {2}hello: node; fastify; express; .*; node#2$/m)
  assert.ok(
    text.split('\n').every((line) => line.length <= 80),
    text,
  )
})

const all = readOptions([])
const wholePlan = createResult(gridExperiment(all), all, '')

test('more time gives more heats', () => {
  assert.equal(heatsWithin(320_000, wholePlan), 3)
  assert.ok(heatsWithin(600_000, wholePlan) > 3)
  const few = { ...wholePlan, cells: wholePlan.cells.filter(({ app }) => /^(node|fastify)\//.test(app)) }
  assert.ok(heatsWithin(300_000, few) > 6)
  assert.equal(heatsWithin(1000, wholePlan), 2)
  assert.equal(heatsWithin(86_400_000, wholePlan), 100)
})

test('the least time is that of two heats of every role', () => {
  const least = leastTimeMs(wholePlan)
  assert.ok(least > 120_000 && least < 240_000, `${least}`)
  assert.ok(
    least > leastTimeMs({ ...wholePlan, cells: wholePlan.cells.filter(({ role }) => role === 'hello') }),
  )
})
