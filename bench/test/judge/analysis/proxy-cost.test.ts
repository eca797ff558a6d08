import assert from 'node:assert/strict'
import { test } from 'node:test'
import { near } from '../../../../packages/stats/test/near.ts'
import { analyseAll, cellOf, raceOf } from '../../fixtures/laboratory.ts'

const APPS = ['node/hello', 'koa/hello', 'bun/hello']
const CELLS = [
  ...APPS.flatMap((app) => [cellOf(app), cellOf(app, 'nginx')]),
  cellOf('node/hello#2', 'direct', 'node/hello'),
  cellOf('node/hello#2', 'nginx', 'node/hello'),
]
/** Launches of very different speed, each with its proxied cell at about a half. */
const LAUNCHES: Record<string, number[]> = {
  'node/hello': [1000, 3000, 500, 2000],
  'koa/hello': [900, 1000, 2500, 700],
  'bun/hello': [4000, 1500, 3000, 6000],
  'node/hello#2': [800, 2500, 900, 1100],
}
const NOISE = [1.01, 0.99, 1, 1.005]
const requests = Object.fromEntries(
  Object.entries(LAUNCHES).flatMap(([app, speeds], place) => [
    [`${app} direct`, speeds],
    [`${app} nginx`, speeds.map((speed, heat) => 0.5 * speed * (NOISE[(heat + place) % 4] ?? 1))],
  ]),
)
const costs = analyseAll(raceOf(CELLS, requests)).proxyCosts

test('every app has its cost in both metrics, but for the twin', () => {
  assert.deepEqual(
    costs.map(({ app, topology, metric }) => `${app} ${topology} ${metric}`).sort(),
    APPS.flatMap((app) => [`${app} nginx cpu`, `${app} nginx rate`]).sort(),
  )
})

test('however launches differ, the difference within them is as sure as its own noise', () => {
  for (const { ratio } of costs.filter(({ metric }) => metric === 'rate')) {
    near(ratio.value, 0.5 * (1.01 * 0.99 * 1 * 1.005) ** (1 / 4))
    assert.ok((ratio.low ?? 0) > 0.48 && (ratio.high ?? 1) < 0.52, JSON.stringify(ratio))
  }
})

test('an app without one of its cells has no cost, and a heat without one of them tells nothing', () => {
  const { 'koa/hello direct': koa = [], ...others } = requests
  const without = analyseAll(
    raceOf(CELLS, { ...others, 'koa/hello direct': [koa[0] ?? 0, Number.NaN, Number.NaN, Number.NaN] }),
    ({ cell }) => (cell.id === 'bun/hello direct' ? 'one error' : null),
  ).proxyCosts.filter(({ metric }) => metric === 'rate')
  assert.deepEqual(
    without.map(({ app }) => app),
    ['node/hello', 'koa/hello'],
  )
  near(without[1]?.ratio.value, 0.5 * (NOISE[1] ?? 1))
})
