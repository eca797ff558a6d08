import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APPS, ROLES } from '@startgrid/grid/apps.ts'
import { readOptions } from '../../src/cli/options.ts'
import { fitToMachine, planCells } from '../../src/experiment/cells.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
import { shareOf } from '../../src/experiment/open-loop.ts'
import { createResult } from '../../src/experiment/result.ts'
import { fitPasses } from '../../src/experiment/schedule.ts'
import { expectedHeatMs, leastTimeMs } from '../../src/experiment/time.ts'
import { PAPER } from '../fixtures/laboratory.ts'

function plan(...words: string[]) {
  const options = readOptions(words)
  return createResult(gridExperiment(options), options, '')
}

describe('cells', () => {
  test('are every app in both topologies, and one twin per role', () => {
    const { cells } = plan()
    equal(cells.length, (APPS.length + ROLES.length) * 2)
    equal(new Set(cells.map(({ id }) => id)).size, cells.length)
    const twins = cells.flatMap(({ id, twinOf }) => (twinOf === null ? [] : [[id, twinOf]]))
    deepEqual(twins.slice(0, 2), [
      ['node/hello#2 direct', 'node/hello'],
      ['node/hello#2 nginx', 'node/hello'],
    ])
    equal(twins.length, 6)
    const other = plan('--only', 'koa/ssr,bun/ssr').cells.find(({ twinOf }) => twinOf !== null)
    deepEqual([other?.app, other?.twinOf], ['koa/ssr#2', 'koa/ssr'], 'without node it is the first app')
  })

  test('have the warm-up in the first topology of a launch, in others only that of their own path', () => {
    const { cells } = plan('--only', 'node/hello,bun/hello', '--topology', 'nginx,direct,nginx-tls')
    const lengths = cells.map(({ title, topology, warmupMs }) => `${title} ${topology} ${warmupMs}`)
    const [first, ...others] = lengths
    equal(first, 'node nginx 1000')
    deepEqual(others.slice(0, 3), ['node direct 250', 'node nginx-tls 250', 'bun nginx 250'])
  })

  test('have open loops with --latency: every app in every topology, no twin, no page that NGINX interprets', () => {
    const { cells, settings } = plan('--latency', '--only', 'node,njs')
    const closed = ['node/hello#2', 'njs/ssr', 'node/ssr#2', 'node/status#2']
    for (const { app, openLoop } of cells) equal(openLoop, !closed.includes(app), app)
    deepEqual(settings.openLoop, { minMs: 500, maxMs: 3000 })
    const without = plan()
    equal(without.settings.openLoop, null)
    ok(without.cells.every(({ openLoop }) => !openLoop))
  })

  test('get the cores that there are; processes that share a core become warm in turn', () => {
    const cells = planCells(PAPER)
    const before = cells.map(({ warmupMs }) => warmupMs)
    fitToMachine(cells, 3)
    const fitted = cells.map(({ cores, warmupMs }, index) => [cores.given, warmupMs / (before[index] ?? 1)])
    deepEqual(fitted, [
      [1, 1],
      [1, 1],
      [3, 2],
    ])
  })
})

describe('heats', () => {
  test('take the time that the profiles promise, and under eight seconds per launch', () => {
    for (const [words, mostMs] of [
      [[], 305_000],
      [['--quick'], 45_000],
    ] as const) {
      const { cells, settings } = plan(...words)
      const total = settings.heats * expectedHeatMs(cells, settings)
      ok(total < mostMs, `${total}`)
      for (const role of ROLES) {
        const own = cells.filter((cell) => cell.role === role)
        ok(expectedHeatMs(own, settings) < 8000 * (APPS.length / 3 + 1), `${words} ${role}`)
      }
    }
  })

  test('are those of the profile, or as many as were given, or as fit into the time, 2 to 100', () => {
    for (const [words, effort] of [
      ['--seed 1', 'default 3'],
      ['--quick', 'quick 2'],
      ['--heats 5', 'custom 5'],
      ['--heats 5 --max-time 1s', 'custom 5'],
      ['--max-time 1s', 'custom 2'],
      ['--max-time 320s', 'custom 3'],
      ['--max-time 1440m', 'custom 100'],
    ] as const) {
      const { profile, heats } = plan(...words.split(' ')).settings
      equal(`${profile} ${heats}`, effort, words)
    }
    const fit = (words: string) => plan('--max-time', ...words.split(' ')).settings.heats
    ok(fit('10m') > 3 && fit('5m --only node,fastify') > 6)
    const whole = plan()
    const least = leastTimeMs(whole)
    ok(least > 120_000 && least < 240_000, `${least}`)
    ok(least > leastTimeMs({ ...whole, cells: whole.cells.filter(({ role }) => role === 'hello') }))
  })
})

test('one launch contributes a third of the samples at most', () =>
  deepEqual([shareOf(1), shareOf(3), shareOf(4)], [1 / 3, 1 / 3, 1 / 4]))

describe('the slices of a heat', () => {
  const { cells } = plan('--role', 'hello')
  const [cell] = cells
  ok(cell)

  test('are as long as the slowest needs; one that is far slower has its own, in some passes', () => {
    const settings = { slices: 19, sliceMs: 50 }
    const fit = (connections: number, rate: number, leastSliceMs = 0) => {
      const slow = { cell: { ...cell, connections, leastSliceMs }, rate }
      const { passes, cells: fitted } = fitPasses([{ cell, rate: 50_000 }, slow], settings)
      return [passes, ...fitted.map(({ every, durationMs }) => [every, durationMs])]
    }
    deepEqual(fit(64, 50_000), [19, [1, 50], [1, 50]])
    deepEqual(fit(64, 0), [19, [1, 50], [1, 50]])
    deepEqual(fit(64, 1280), [4, [1, 200], [1, 200]])
    deepEqual(fit(8, 54), [19, [1, 50], [6, 593]])
    deepEqual(fit(64, 20)[2], [6, 2000], 'a warm-up that others took decides nothing for long')
    deepEqual(fit(64, 50_000, 5000)[2], [19, 5000], 'a study that asks for slices of seconds gets one')
    const slow = [54, 30].map((rate) => ({ cell: { ...cell, connections: 8 }, rate }))
    const { passes, cells: fitted } = fitPasses(slow, settings)
    deepEqual([passes, ...fitted.map(({ durationMs }) => durationMs)], [3, 1067, 1067])
  })
})
