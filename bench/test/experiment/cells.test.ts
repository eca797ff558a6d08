import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APPS, ROLES } from '@startgrid/grid/apps.ts'
import { readOptions } from '../../src/cli/options.ts'
import { fitToMachine, planCells } from '../../src/experiment/cells.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
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

  test('have open loops with --latency: every app in every topology, no twin, no page that NGINX interprets', () => {
    const { cells, settings } = plan('--latency', '--only', 'node,njs')
    deepEqual(
      cells.filter(({ openLoop }) => !openLoop).map(({ app }) => app),
      ['node/hello#2', 'njs/ssr', 'node/ssr#2', 'node/status#2'].flatMap((app) => [app, app]),
    )
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

describe('the slices of a heat', () => {
  const { cells } = plan('--role', 'hello')
  const [cell] = cells
  ok(cell)

  test('last at least 4 connections / rate, and are measured about as long as others, three times at least', () => {
    const settings = { slices: 19, sliceMs: 50 }
    const fast = { cell, rate: 50_000 }
    const fit = (connections: number, rate: number) => {
      const { passes, cells: fitted } = fitPasses([fast, { cell: { ...cell, connections }, rate }], settings)
      return [passes, fitted[1]?.every, fitted[1]?.durationMs]
    }
    deepEqual(fit(64, 50_000), [19, 1, 50])
    deepEqual(fit(64, 0), [19, 1, 50])
    deepEqual(fit(64, 1280), [19, 4, 200])
    deepEqual(fit(8, 54), [19, 6, 593])
    deepEqual(fit(64, 20), [19, 6, 2000], 'a warm-up that others took decides nothing for long')
    const raced = [50_000, 1280].map((rate) => ({ cell: { ...cell, role: null, connections: 64 }, rate }))
    const lengths = fitPasses(raced, settings).cells.map(({ every, durationMs }) => [every, durationMs])
    deepEqual(
      lengths,
      [
        [4, 200],
        [4, 200],
      ],
      'of commands all are equally long',
    )
    // A study that asks for slices of seconds gets one.
    const { passes, cells: fitted } = fitPasses(
      [{ ...fast, cell: { ...cell, leastSliceMs: 5000 } }],
      settings,
    )
    deepEqual([passes, fitted[0]?.every, fitted[0]?.durationMs], [1, 1, 5000])
  })
})
