import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { near } from '../../../packages/stats/test/near.ts'
import type { whyVoid } from '../../src/judge/gates.ts'
import type { Measured } from '../../src/judge/launches.ts'
import type { Cell } from '../../src/result/cell.ts'
import type { Analysis, RaceFigures } from '../../src/result/figures.ts'
import type { MainMetric } from '../../src/result/metrics.ts'
import { analyseAll, cellOf, heatOf, measuredOf, raceOf, sliceOf } from '../fixtures/laboratory.ts'

const NODE = cellOf('node/hello')
const TWIN = cellOf('node/hello#2', 'direct', 'node/hello')
const KOA = cellOf('koa/hello')
const BUN = cellOf('bun/hello')
/** Four heats of a race with a clear winner; the heats differ by a factor of two. */
const RACE = raceOf([NODE, TWIN, KOA, BUN], {
  'node/hello direct': [1000, 2020, 990, 1010],
  'node/hello#2 direct': [1010, 1980, 1000, 1000],
  'koa/hello direct': [990, 2000, 1010, 1005],
  'bun/hello direct': [2000, 4010, 2010, 1990],
})

const voiding =
  (...cells: string[]): typeof whyVoid =>
  ({ cell }) =>
    cells.includes(cell.id) ? 'one error' : null

function raceIn({ races }: Analysis, metric: MainMetric = 'rate'): RaceFigures {
  const race = races.find((one) => one.metric === metric)
  assert.ok(race)
  return race
}

function ratioOf(race: RaceFigures, cell: string): Interval {
  const ratio = race.ratios.find((one) => one.cell === cell)?.ratio
  assert.ok(ratio)
  return ratio
}

test('a clear winner is first, and the others are tied', () => {
  const race = raceIn(analyseAll(RACE))
  assert.deepEqual(
    race.ranks.map(({ cell, from, to }) => [cell, from, to]),
    [
      ['bun/hello direct', 1, 1],
      ['node/hello direct', 2, 3],
      ['koa/hello direct', 2, 3],
    ],
  )
})

test('a ratio is that of geometric means, and heats cancel out of it', () => {
  const race = raceIn(analyseAll(RACE))
  near(
    ratioOf(race, 'bun/hello direct').value,
    ((2000 * 4010 * 2010 * 1990) / (1000 * 2020 * 990 * 1010)) ** (1 / 4),
  )
  assert.deepEqual(ratioOf(race, 'node/hello direct'), { value: 1, low: 1, high: 1 })
  const slow = { ...RACE, heats: RACE.heats.map((heat, index) => (index === 2 ? slowed(heat) : heat)) }
  const other = ratioOf(raceIn(analyseAll(slow)), 'bun/hello direct')
  const before = ratioOf(race, 'bun/hello direct')
  near(other.low, before.low ?? Number.NaN)
  near(other.high, before.high ?? Number.NaN)
})

function slowed(heat: (typeof RACE)['heats'][number]) {
  return { ...heat, slices: heat.slices.map((slice) => ({ ...slice, seconds: slice.seconds * 3 })) }
}

test('bare node is the baseline, wherever it stands', () => {
  assert.equal(raceIn(analyseAll({ ...RACE, cells: [...RACE.cells].reverse() })).baseline, NODE.id)
})

test('launches that are measured behind NGINX too tell more of the variance, but not if they only say the same', () => {
  const apps = ['node/hello', 'koa/hello', 'bun/hello', 'hono/hello']
  const cells = apps.flatMap((app) => [cellOf(app), cellOf(app, 'nginx')])
  const direct = [
    [1000, 1020, 990, 1010],
    [1000, 980, 1010, 990],
    [2000, 2040, 2010, 1960],
    [1500, 1490, 1480, 1530],
  ]
  // The same figures of heats, but of other launches.
  const widthWith = (order: number[]) => {
    const requests = apps.flatMap((app, index) => [
      [`${app} direct`, direct[index]],
      [`${app} nginx`, order.map((heat) => direct[(index + (order[0] ?? 0)) % 4]?.[heat])],
    ])
    const { low, high } = ratioOf(
      raceIn(analyseAll(raceOf(cells, Object.fromEntries(requests)))),
      'bun/hello direct',
    )
    return (high ?? 0) / (low ?? 1)
  }
  assert.ok(widthWith([1, 0, 3, 2]) < widthWith([0, 1, 2, 3]))
})

test('a pair agrees with its ratio to the baseline, whichever is named first', () => {
  const race = raceIn(analyseAll(RACE))
  const pair = race.pairs.find(({ a, b }) => a === 'node/hello direct' && b === 'bun/hello direct')
  const ratio = ratioOf(race, 'bun/hello direct')
  near(pair?.ratio.value, 1 / ratio.value)
  near(pair?.ratio.low, 1 / (ratio.high ?? Number.NaN))
  assert.ok((pair?.p ?? 1) < 1e-6)
  const [least] = race.pairs.toSorted((one, other) => (one.p ?? 1) - (other.p ?? 1))
  near((least?.pAdjusted ?? Number.NaN) / (least?.p ?? Number.NaN), 3)
  assert.equal(race.pairs.length, 3)
})

test('the twin is compared with its original only, but tells how launches vary', () => {
  const analysis = analyseAll(RACE)
  const race = raceIn(analysis)
  assert.ok(!JSON.stringify([race.ranks, race.ratios, race.pairs]).includes('#2'))
  assert.equal(race.control?.twin, 'node/hello#2 direct')
  assert.equal(race.control?.original, 'node/hello direct')
  near(race.control?.ratio.value, ((1010 * 1980 * 1000 * 1000) / (1000 * 2020 * 990 * 1010)) ** (1 / 4))
  assert.equal(race.control?.suspect, false)
  const without = { ...RACE, cells: RACE.cells.filter(({ twinOf }) => twinOf === null) }
  assert.equal(raceIn(analyseAll(without)).control, null)
  assert.notEqual(raceIn(analyseAll(without)).launchSpread, race.launchSpread)
})

test('twins that differ make the race suspect', () => {
  const unlike = RACE.heats.map((heat) => ({
    ...heat,
    slices: heat.slices.map((one) => (one.cell === TWIN.id ? { ...one, requests: one.requests * 1.2 } : one)),
  }))
  const { control } = raceIn(analyseAll({ ...RACE, heats: unlike }))
  assert.equal(control?.suspect, true)
  assert.ok((control?.p ?? 1) < 0.005)
})

test('a voided cell has no figures, no place, and no influence', () => {
  // What is known of its launch besides counts as little.
  const launches = [{ app: BUN.app, startup: 0.1, readyMemory: 1e6, peakMemory: 2e6 }]
  const heats = RACE.heats.map((heat) => ({ ...heat, launches }))
  const analysis = analyseAll({ ...RACE, heats }, voiding(BUN.id))
  const figures = analysis.cells.find(({ cell }) => cell === BUN.id)
  assert.equal(figures?.void, 'one error')
  assert.deepEqual([figures?.figures, figures?.coreUse, figures?.cpu.app], [{}, null, null])
  assert.equal(figures?.launches, 4)
  const absent = analyseAll({ ...RACE, cells: RACE.cells.filter(({ id }) => id !== BUN.id) })
  assert.deepEqual(analysis.races, absent.races)
})

test('without bare node the first valid cell is the baseline: to choose the best one would be to choose by chance', () => {
  const { baseline, control } = raceIn(analyseAll(RACE, voiding(NODE.id)))
  assert.equal(baseline, KOA.id)
  assert.equal(control, null)
})

test('a launch is its slices that count: warm-up and disturbed ones do not', () => {
  const half = { seconds: 0.6, cpuSeconds: { app: 0.6, proxy: 0, generator: 0.3 } }
  const slices = [
    sliceOf(NODE.id, 5000, { phase: 'warmup', pass: null }),
    sliceOf(NODE.id, 100, { pass: 1 }),
    sliceOf(NODE.id, 1, { pass: 2, disturbed: true }),
    sliceOf(NODE.id, 300, { pass: 3, ...half }),
  ]
  const [figures] = analyseAll(measuredOf([NODE], [heatOf(1, slices)])).cells
  near(figures?.figures.rate?.value, 500)
  near(figures?.figures.cpu?.value, 0.8 / 400)
  near(figures?.cpu.generator, 0.4 / 400)
  near(figures?.coreUse, 1)
  const wide = measuredOf([{ ...NODE, cores: { wanted: 2, given: 2 } }], [heatOf(1, slices)])
  near(analyseAll(wide).cells[0]?.coreUse, 0.5)
  assert.deepEqual([figures?.slices, figures?.disturbed, figures?.launches], [2, 1, 1])
})

test('cells are compared inside passes: what slows all of a pass changes no ratio', () => {
  const speeds = [1, 0.6, 1.1, 0.5, 0.9]
  const pass = (id: string, rate: number) =>
    speeds.map((speed, index) => sliceOf(id, rate * speed, { pass: index + 1 }))
  // The slow passes of one cell are missing: its mean would be too high.
  const fast = pass(KOA.id, 2000).filter((_, index) => index !== 1 && index !== 3)
  const heats = [1, 2].map((heat) => heatOf(heat, [...pass(NODE.id, 1000), ...fast]))
  const analysis = analyseAll(measuredOf([NODE, KOA], heats))
  near(ratioOf(raceIn(analysis), KOA.id).value, 2)
})

test('one heat gives figures without intervals', () => {
  const analysis = analyseAll({ ...RACE, heats: RACE.heats.slice(0, 1) })
  const race = raceIn(analysis)
  near(ratioOf(race, BUN.id).value, 2)
  assert.equal(ratioOf(race, BUN.id).low, null)
  assert.ok(race.pairs.every(({ p, pAdjusted }) => p === null && pAdjusted === null))
  assert.ok(race.ranks.every(({ from, to }) => from === 1 && to === 3))
  assert.deepEqual([race.smallestEffect, race.launchSpread, race.control?.p], [null, null, null])
  near(analysis.cells[0]?.figures.rate?.value, 5000)
  assert.equal(analysis.cells[0]?.figures.rate?.high, null)
})

test('cells that never met are compared without an interval', () => {
  const race = raceIn(
    analyseAll(
      raceOf([NODE, KOA, BUN], {
        'node/hello direct': [1000, 1010, Number.NaN, Number.NaN],
        'koa/hello direct': [2000, 2010, Number.NaN, Number.NaN],
        'bun/hello direct': [Number.NaN, Number.NaN, 3000, 3030],
      }),
    ),
  )
  assert.notEqual(ratioOf(race, KOA.id).low, null)
  const { value, low, high } = ratioOf(race, BUN.id)
  near(value, 3, 1e-6)
  assert.deepEqual([low, high], [null, null])
  assert.notEqual(race.pairs.find(({ a, b }) => a === NODE.id && b === KOA.id)?.pAdjusted, null)
})

test('skipped cells and cells that never responded have no figures and no place', () => {
  const skipped = { ...cellOf('njs/hello'), skipped: 'there is no NGINX' }
  const silent = cellOf('hono/hello')
  const heats = RACE.heats.map((heat) => ({ ...heat, slices: [...heat.slices, sliceOf(silent.id, 0)] }))
  const analysis = analyseAll({ ...RACE, cells: [...RACE.cells, skipped, silent], heats })
  const figuresOf = ({ id }: Cell) => analysis.cells.find(({ cell }) => cell === id)
  assert.equal(figuresOf(skipped), undefined)
  const { figures, void: reason } = figuresOf(silent) ?? {}
  assert.deepEqual([figures, reason], [{}, null])
  assert.deepEqual(raceIn(analysis).ranks, raceIn(analyseAll(RACE)).ranks)
})

test('what a race could have shown is above 1, more with Holm, and less with more heats', () => {
  const { smallestEffect } = raceIn(analyseAll(RACE))
  const { single = 0, adjusted = 0 } = smallestEffect ?? {}
  assert.ok(single > 1 && adjusted > single, `${single}, ${adjusted}`)
  const twice = [...RACE.heats, ...RACE.heats.map((heat) => ({ ...heat, heat: heat.heat + 4 }))]
  assert.ok((raceIn(analyseAll({ ...RACE, heats: twice })).smallestEffect?.single ?? 9) < single)
})

const DIRECT = cellOf('node/hello')
const NGINX = cellOf('node/hello', 'nginx')
const cellsOf = (measured: Measured) => analyseAll(measured).cells

test('peak memory is the highest of the launches that served the cell', () => {
  const launches = (app: number, nginx: number | null) => [
    { app: 'node/hello', peakMemory: app },
    { app: 'nginx', peakMemory: nginx },
  ]
  const slices = [DIRECT, NGINX].map(({ id }) => sliceOf(id, 100))
  const heats = [
    heatOf(1, slices, { launches: launches(100, 20) }),
    heatOf(2, slices, { launches: launches(120, null) }),
    heatOf(1, [], { race: 'ssr', launches: launches(999, 999) }),
  ]
  const [direct, nginx] = cellsOf(measuredOf([DIRECT, NGINX], heats)).map(({ peakMemory }) => peakMemory)
  assert.deepEqual(direct, { app: 120, proxy: null })
  assert.deepEqual(nginx, { app: 120, proxy: 20 })
})

test('the cost of server and proxy is their sum, and unknown if one is', () => {
  const cpuSeconds = { app: 0.05, proxy: 0.14, generator: 0.2 }
  const known = measuredOf([NGINX], [heatOf(1, [sliceOf(NGINX.id, 100, { cpuSeconds })])])
  const [figures] = cellsOf(known)
  near(figures?.figures.cpu?.value, 0.0019)
  near(figures?.cpu.proxy, 0.0014)
  near(figures?.coreUse, 0.95)
  const unknown = heatOf(1, [sliceOf(NGINX.id, 100, { cpuSeconds: { ...cpuSeconds, proxy: null } })])
  const [other] = cellsOf(measuredOf([NGINX], [unknown]))
  assert.deepEqual([other?.figures.cpu, other?.coreUse, other?.cpu.proxy], [undefined, null, null])
  near(other?.cpu.app, 0.0005)
})

test('a mean has an interval from two launches on', () => {
  const heat = (number: number, count: number) => heatOf(number, [sliceOf(DIRECT.id, count)])
  const [figures] = cellsOf(measuredOf([DIRECT], [heat(1, 100), heat(2, 110)]))
  near(figures?.figures.rate?.value, Math.sqrt(100 * 110) / 0.2)
  // Student's t with one degree of freedom on two logarithms: 12.7062 times half their distance.
  near(
    figures?.figures.rate?.high,
    (Math.sqrt(100 * 110) / 0.2) * Math.exp((12.7062 * Math.log(1.1)) / 2),
    1e-4,
  )
})

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
const proxied = Object.fromEntries(
  Object.entries(LAUNCHES).flatMap(([app, speeds], place) => [
    [`${app} direct`, speeds],
    [`${app} nginx`, speeds.map((speed, heat) => 0.5 * speed * (NOISE[(heat + place) % 4] ?? 1))],
  ]),
)
const costs = analyseAll(raceOf(CELLS, proxied)).proxyCosts

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
  const { 'koa/hello direct': koa = [], ...others } = proxied
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
