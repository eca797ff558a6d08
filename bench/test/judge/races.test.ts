import assert, { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { near } from '../../../packages/stats/test/near.ts'
import { analyse } from '../../src/judge/analysis.ts'
import { stallOf, unsteadyOf } from '../../src/judge/findings.ts'
import type { Measured } from '../../src/judge/launches.ts'
import { isSlower, knowsAll, startsNeeded, verdictOf } from '../../src/judge/verdict.ts'
import { commentOf, documentOf } from '../../src/report/report.ts'
import type { Analysis, Finding, PilotRecord, RaceFigures } from '../../src/result/figures.ts'
import type { Slice } from '../../src/result/heat.ts'
import type { Cell } from '../../src/result/result.ts'
import { golden } from '../fixtures/golden.ts'
import {
  analyseAll,
  cellOf,
  heatOf,
  measuredOf,
  measureOnPaper,
  PAPER,
  type Rates,
  raceOf,
  sliceOf,
} from '../fixtures/laboratory.ts'

/** What golden results do not have: void cells, missing ones, single heats. Their figures prove the arithmetic. */

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

const without = (cell: Cell) => ({ ...RACE, cells: RACE.cells.filter((one) => one !== cell) })
const voiding = ({ id }: Cell, measured: Measured): Measured => ({
  ...measured,
  heats: measured.heats.map((heat) => ({ ...heat, failures: [{ cell: id, reason: 'one error' }] })),
})

/** The first one is by rate. */
function raceIn({ races: [race] }: Analysis): RaceFigures {
  assert.ok(race)
  return race
}

function ratioOf(race: RaceFigures, { id }: Cell): Interval {
  const ratio = race.ratios.find((one) => one.cell === id)?.ratio
  assert.ok(ratio)
  return ratio
}

test('a clear winner is first, the others are tied, and the twin is compared with its original only', () => {
  const race = raceIn(analyseAll(RACE))
  const ranks = race.ranks.map(({ cell, from, to }) => `${cell} ${from}–${to}`)
  deepEqual(ranks, [`${BUN.id} 1–1`, `${NODE.id} 2–3`, `${KOA.id} 2–3`])
  near(ratioOf(race, BUN).value, ((2000 * 4010 * 2010 * 1990) / (1000 * 2020 * 990 * 1010)) ** (1 / 4))
  ok(!JSON.stringify([race.ranks, race.ratios, race.pairs]).includes('#2'))
  const { control } = race
  deepEqual([control?.twin, control?.original, control?.suspect], [TWIN.id, NODE.id, false])
  near(control?.ratio.value, ((1010 * 1980 * 1000 * 1000) / (1000 * 2020 * 990 * 1010)) ** (1 / 4))
  equal(raceIn(analyseAll(without(TWIN))).control, null)
})

test('a twin that differs more than in one run of 200 makes the race suspect', () => {
  for (const [factor, isSuspect] of [
    [1.03, false],
    [1.05, true],
  ] as const) {
    const heats = RACE.heats.map(({ slices, ...heat }) => {
      const faster = ({ cell, requests }: Slice) => (cell === TWIN.id ? factor * requests : requests)
      return { ...heat, slices: slices.map((slice) => ({ ...slice, requests: faster(slice) })) }
    })
    equal(raceIn(analyseAll({ ...RACE, heats })).control?.suspect, isSuspect)
  }
})

test('bare node is the baseline wherever it stands, else the first valid cell: the best one would be chosen by chance', () => {
  equal(raceIn(analyseAll({ ...RACE, cells: RACE.cells.toReversed() })).baseline, NODE.id)
  const { baseline, control } = raceIn(analyseAll(voiding(NODE, RACE)))
  deepEqual([baseline, control], [KOA.id, null])
})

test('a cell that is void, was skipped or never responded has no figures, no place and no influence', () => {
  const skipped = { ...cellOf('njs/hello'), skipped: 'there is no NGINX' }
  const silent = cellOf('hono/hello')
  // What is known of its launch besides counts as little.
  const launches = [{ app: BUN.app, startup: 0.1, readyMemory: 1e6, peakMemory: 2e6 }]
  const heats = RACE.heats.map(({ slices, ...heat }) => {
    return { ...heat, launches, slices: [...slices, sliceOf(silent.id, 0, { checked: 0 })] }
  })
  const conformance = [...RACE.conformance, { cell: silent.id, differences: [] }]
  const cells = [...RACE.cells, skipped, silent]
  const analysis = analyseAll(voiding(BUN, { ...RACE, cells, conformance, heats }))
  deepEqual(analysis.races, analyseAll(without(BUN)).races)
  const shown = [BUN, silent, skipped].map(({ id }) => analysis.cells.find(({ cell }) => cell === id))
  deepEqual(
    shown.map((one) => one && [one.figures, one.coreUse, one.cpu.app, one.launches, one.void]),
    [[{}, null, null, 4, 'one error'], [{}, null, null, 0, 'no request got a response'], undefined],
  )
})

test('where the system does not tell what NGINX costs, the cost of both is unknown', () => {
  const nginx = cellOf('node/hello', 'nginx')
  const slice = sliceOf(nginx.id, 100, { cpuSeconds: { app: 0.05, proxy: null, generator: 0.2 } })
  const [known] = analyseAll(measuredOf([nginx], [heatOf(1, [slice])])).cells
  deepEqual(known?.cpu, { app: 0.0005, proxy: null })
  deepEqual([known?.figures.cpu, known?.coreUse], [undefined, null])
})

test('what NGINX costs is as sure as the noise within launches; without one of its cells an app has no cost', () => {
  const noise = [1.01, 0.99, 1, 1.005]
  const launches = {
    'node/hello': [1000, 3000, 500, 2000],
    'koa/hello': [900, 1000, 2500, 700],
    'bun/hello': [4000, 1500, 3000, 6000],
    'node/hello#2': [800, 2500, 900, 1100],
  }
  const requests = Object.entries(launches).flatMap(([app, speeds], place) => [
    // Of one app, a single heat has both cells.
    [`${app} direct`, app === 'koa/hello' ? speeds.slice(0, 1) : speeds],
    [`${app} nginx`, speeds.map((speed, heat) => 0.5 * speed * (noise[(heat + place) % 4] ?? 1))],
  ])
  const cells = [NODE, KOA, BUN, TWIN].flatMap((cell) => [cell, cellOf(cell.app, 'nginx', cell.twinOf)])
  const [node, koa, ...others] = analyseAll(
    voiding(BUN, raceOf(cells, Object.fromEntries(requests))),
  ).proxyCosts.filter(({ metric }) => metric === 'rate')
  deepEqual([node?.app, koa?.app, others], ['node/hello', 'koa/hello', []])
  near(node?.ratio.value, 0.5 * (1.01 * 0.99 * 1 * 1.005) ** (1 / 4))
  ok((node?.ratio.low ?? 0) > 0.48 && (node?.ratio.high ?? 1) < 0.52, JSON.stringify(node?.ratio))
  near(koa?.ratio.value, 0.5 * 0.99)
})

describe('a race of commands', () => {
  const RATES: Rates = { fast: [40_000, 41_000, 39_500], slow: [20_100, 20_400, 19_800] }
  const pilotOf = (decides: 'rate' | 'cpu', unsteady = ''): PilotRecord => ({
    race: 'race',
    decides,
    warmupMs: 500,
    difference: null,
    systems: ['slow', 'fast'].map((system) => ({
      system,
      masked: 0,
      coreUse: 1,
      steady: system !== unsteady,
    })),
  })

  test('a system that was not steady when the pilot ended is named where it is compared', () => {
    const pilots = [pilotOf('rate', 'fast')]
    deepEqual(unsteadyOf({ race: 'race', over: 'fast', under: 'slow' }, pilots), ['fast'])
    deepEqual(unsteadyOf({ race: 'race', over: 'wide', under: 'slow' }, pilots), [])
    deepEqual(unsteadyOf({ race: 'other', over: 'fast', under: 'slow' }, pilots), [])
  })

  for (const [foreign, byPilot, decides, other] of [
    [0.11, 'rate', 'rate', 'cpu'],
    [0.13, 'rate', 'cpu', 'rate'],
    // Nobody can know.
    [null, 'rate', 'rate', 'cpu'],
    [0.1, 'cpu', 'cpu', 'rate'],
  ] as const)
    test(`${decides} decides where the pilot says ${byPilot} and others took ${foreign} of the core`, () => {
      const result = measureOnPaper(RATES)
      for (const slice of result.heats.flatMap(({ slices }) => slices))
        slice.disturbance = { ...slice.disturbance, serverForeign: foreign }
      const [finding] = analyse(PAPER, { ...result, pilots: [pilotOf(byPilot)] }).findings
      deepEqual([finding?.decides, finding?.others[0]?.metric], [decides, other])
      equal(finding?.verdict, null, 'three starts give no verdict')
    })

  test('an interval pays for looks that were planned, and for other pairs', () => {
    const five = (rate: number) => [1, 1.02, 0.99, 1.01, 0.98].map((part) => part * rate)
    const rates = { fast: five(40_000), slow: five(20_000).reverse() }
    const widthOf = (looks: number[] | undefined, systems: Rates = rates) => {
      const result = measureOnPaper(systems)
      Object.assign(result.settings, { looks })
      const [pilot, names] = [pilotOf('rate'), Object.keys(systems)]
      pilot.systems = names.map((system) => ({ system, masked: 0, coreUse: 1, steady: true }))
      const { findings, claims } = analyse(PAPER, { ...result, pilots: [pilot] })
      const ratios = [findings.find(({ over }) => over === 'slow')?.ratio, claims[0]?.ratio]
      const [width, alone] = ratios.map((one) => Math.log((one?.high ?? 0) / (one?.low ?? 0)))
      return (width ?? 0) / (alone ?? 0)
    }
    near(widthOf(undefined), 1)
    near(widthOf([5]), 1)
    ok(widthOf([5, 10, 20]) > 1.2)
    ok(widthOf(undefined, { ...rates, wide: five(10_000) }) > 1.2, 'three pairs')
  })
})

describe('the verdict of a pair', () => {
  const pair = golden('commands').analysis?.findings.find(({ isTwin }) => !isTwin) ?? assert.fail()
  const found = (low: number, high: number, decides: 'rate' | 'cpu' = 'rate'): Finding => {
    const ratio = { value: Math.sqrt(low * high), low, high }
    return { ...pair, decides, ratio, verdict: verdictOf(ratio, 0.03) }
  }

  // Of a rate; a cost is the same upside down.
  for (const [low, high, verdict, slower, isEnough, isEnoughToFail] of [
    [0.8, 0.9, 'differs', true, true, true],
    [0.9, 0.99, 'differs', null, true, false],
    [0.98, 0.99, 'differs', false, true, true],
    [1.01, 1.2, 'differs', false, true, true],
    [0.971, 1.03, 'alike', false, true, true],
    [0.969, 1.02, 'open', null, false, false],
    [0.99, 1.032, 'open', false, false, false],
  ] as const)
    test(`${low} to ${high}: ${verdict}; slower by more than 3 %: ${slower}`, () => {
      for (const one of [found(low, high), found(1 / high, 1 / low, 'cpu')]) {
        deepEqual([one.verdict, isSlower(one, 0.03)], [verdict, slower])
        const few = { ...one, verdict: null }
        const twin = { ...few, isTwin: true }
        const known = [false, true].map((fails) => knowsAll(0.03, fails)([one, twin]))
        deepEqual(known, [isEnough, isEnoughToFail])
        equal(knowsAll(0.03, false)([one, few]), false)
      }
    })

  test('what would probably do: the more, the wider and the nearer to half of the margin; nobody waits for over 100 starts', () => {
    const startsFor = (estimate: number, standardError: number) =>
      startsNeeded({ estimate, standardError, df: 9 }, { starts: 10, within: 0.03, level: 0.05 })
    // ((2.23 + 0.84) × 0.02 / 0.0305)² is 4.1 times as many.
    equal(startsFor(0, 0.02), 41)
    equal(startsFor(0.06, 0.02), 11)
    equal(startsFor(0.015, 0.01), 40)
    equal(startsFor(0, 0.05), null)
  })
})

describe('a server that freezes once in each start', () => {
  const pair = golden('commands').analysis?.findings.find(({ isTwin }) => !isTwin) ?? assert.fail()
  const { over } = pair

  /** Requests per slice say how long one usually waits. */
  for (const [what, where, own, other, requests, isStall] of [
    ['is named', 'slices', 2, 0.02, 1000, true],
    ['is named on a noisy machine', 'slices', 2, 0.06, 1000, true],
    ['is named in the open loop, which lasts longer', 'trials', 2, 0.02, 1000, true],
    ['is not, where the host stopped both', 'slices', 2, 2, 1000, false],
    ['is not, where it was noise', 'slices', 0.5, 0.02, 1000, false],
    ['is not, where all its requests wait', 'slices', 2, 0.02, 5, false],
  ] as const)
    test(what, () => {
      const result = golden('commands')
      for (const heat of result.heats)
        for (const { id, system } of result.cells)
          for (const [index, load] of heat[where].filter(({ cell }) => cell === id).entries()) {
            const isOnce = where === 'trials' || index === 5
            const longest = system === over ? own : other
            Object.assign(load, { requests, longest: isOnce ? longest : 0.01 })
          }
      deepEqual(stallOf(pair, result), isStall ? { system: over, seconds: own, other } : undefined)
    })

  test('stands in the first sentence and in the comment', () => {
    const result = golden('commands')
    const stall = { system: over, seconds: 2, other: 0.02 }
    for (const finding of result.analysis?.findings ?? [])
      if (finding.over === over && finding.under === pair.under) Object.assign(finding, { stall })
    const says = `but ${over} stopped responding for 2.0 s in the typical start, the other for 0.020 s`
    const { finding, summary } = documentOf(result)
    ok([finding, ...(summary ?? [])].join().includes(`; ${says}`))
    ok(commentOf(result).includes(says))
  })
})
