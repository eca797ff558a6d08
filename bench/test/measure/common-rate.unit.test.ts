import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { commonRate } from '../../src/experiment/open-loop.ts'
import { analyse as analyseStudy } from '../../src/judge/analysis.ts'
import { openLoopsOf } from '../../src/judge/latencies.ts'
import { isTimely } from '../../src/judge/trial.ts'
import type { LastingGenerator } from '../../src/load/generator.ts'
import { baseOf, measureAtCommonRate } from '../../src/measure/common-rate.ts'
import { type Course, newHeat } from '../../src/measure/heat.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Study } from '../../src/result/experiment.ts'
import type { Trial } from '../../src/result/heat.ts'
import type { Result } from '../../src/result/result.ts'
import type { Server } from '../../src/servers/servers.ts'
import { histogramOf, QUIET, trialOf, uniform } from '../fixtures/evidence.ts'
import { measureOnPaper, PAPER, paperSliceOf } from '../fixtures/laboratory.ts'

/** The paper's systems under the same traffic, with a claim about its latency. */
const LATE: Study = {
  ...PAPER,
  races: {
    race: {
      systems: ['fast', 'slow', 'wide'],
      workload: { path: '/json', expect: {} },
      connections: 64,
      openLoop: ['fast', 'slow', 'wide'],
    },
  },
  claims: [
    {
      id: 'latency',
      says: 'the median latency falls to a half',
      race: 'race',
      metric: 'median-latency',
      over: 'fast',
      under: 'slow',
      published: [1, 2],
    },
  ],
}

const at = (ms: number) => ({ p50: ms, p90: ms, p99: ms, p999: ms, max: ms })

/** Of 1, 2 … 1,000 µs. */
const HISTOGRAM =
  'HISTFAAAAJF4nJNpmSzMwMB+moGBgZGBgYGZAQIYGRiY3Qx2LGCA8c/zM53lZ5rKwfSUnWkhC9NHZihazsT0nRELWsnIVM1UiQdn' +
  'M1kzWTPZgknyaF0maSZZJlkkkv58fiZeJm4mXihEsLCLDld5diZWMGSG0qiQeNFR/UNfPzMTAxrEEMAFiVZICzNHLR+1fGRYDgCSujxh'

/** Lags of a generator that stalled for a fifth of the time. */
const STALLED = histogramOf(uniform(100, 0.001).fill(2, 80))

/** Lags that spoil p99 where it is far above the median, and not the median. */
const HICCUP = histogramOf(uniform(100, 0.001).fill(30, 98))
const LONG_TAILED = histogramOf([...uniform(900, 0.5).map((ms) => 0.5 + ms), ...uniform(100, 20)])

/** A load that was offered, with all its responses, on time and undisturbed. */
function soundLoad(system: string, change: Partial<Trial> = {}): Trial {
  return trialOf({
    ...{ cell: `race ${system}`, seconds: 1, histogram: HISTOGRAM },
    ...{ offered: 10_000, achieved: 10_000 },
    ...change,
  })
}

/** Two heats in which each system's mean latency is this many milliseconds. */
function measure(means: Readonly<Record<string, readonly number[]>>): Result {
  const result = measureOnPaper(
    { fast: [40_000, 41_000], slow: [20_100, 20_000], wide: [40_000, 41_000] },
    LATE,
  )
  for (const [index, heat] of result.heats.entries()) {
    const loads = Object.entries(means).flatMap(([system, all]) => {
      const meanMs = all[index]
      return meanMs === undefined ? [] : [soundLoad(system, { meanMs })]
    })
    heat.commonRate = { rate: 10_050, tooSlow: [] }
    heat.trials = loads
  }
  return result
}

const MEANS = { fast: [0.5, 0.52], slow: [1, 1.02], wide: [0.6, 0.61] }

function analyse(study: Study, change: (result: Result) => void = () => {}) {
  const result = measure(MEANS)
  change(result)
  result.analysis = analyseStudy(study, result)
  const [claim] = result.analysis.claims
  if (claim === undefined) throw new Error('There is one claim.')
  return { result, analysis: result.analysis, claim }
}

const MEAN: Study = { ...LATE, claims: LATE.claims.map((one) => ({ ...one, metric: 'mean-latency' })) }

describe('the rate', () => {
  test('is half of what the slowest can do, in whole tens, and nobody measured has none', () => {
    equal(commonRate([40_000, 20_131]), 10_070)
    equal(commonRate([40_000, 20_131, 5000]), 2500)
    equal(commonRate([]), null)
    equal(commonRate([0]), null)
  })

  test('is that of the systems that a claim about latency names, and without one of all who are asked', () => {
    deepEqual(baseOf(LATE, 'race'), ['fast', 'slow'])
    deepEqual(baseOf({ ...LATE, claims: PAPER.claims }, 'race'), ['fast', 'slow', 'wide'])
  })
})

describe('a claim about latency', () => {
  test('is judged on the open loop', () => {
    const { claim, analysis } = analyse(MEAN)
    ok(Math.abs((claim.ratio?.value ?? 0) - 0.505) < 0.001, String(claim.ratio?.value))
    equal(claim.verdict, 'holds')
    deepEqual(analysis.openRates, [{ race: 'race', rate: 10_050 }])
  })

  test('percentiles come from the histogram of each launch, if enough samples lie beyond them', () => {
    const { analysis } = analyse(LATE)
    const figures = analysis.cells.find(({ system }) => system === 'fast')?.figures
    const percentiles = [figures?.['median-latency'], figures?.['p90-latency'], figures?.['p99-latency']]
    deepEqual(
      percentiles.map((one) => one?.value.toFixed(6)),
      ['0.000500', '0.000900', '0.000990'],
    )
    const few = analyse(LATE, ({ heats }) => {
      for (const load of heats.flatMap(({ trials }) => trials)) load.requests = 3000
    }).analysis.cells[0]?.figures
    ok(few?.['p90-latency'] !== undefined && few['p99-latency'] === undefined, '30 of the 33 that it needs')
  })

  const voids: [why: string, change: Partial<Trial>, reason: RegExp][] = [
    ['an error', { errors: { reset: 1 } }, /^the latency of slow is void: 1 of 10001 requests failed/],
    [
      'a server that falls behind',
      { achieved: 9000 },
      /: 9,000 of 10,000 requests per second got a response$/,
    ],
    ['a late generator', { lagHistogram: STALLED }, /: the generator was late, .* in 1 of 2 heats$/],
    ['nothing compared', { checked: 0 }, /nothing was compared, in 1 of 2 heats$/],
  ]
  for (const [why, change, reason] of voids)
    test(`is undecided after ${why}, and the rates stay`, () => {
      const { claim, analysis } = analyse(MEAN, ({ heats }) => {
        const load = heats[1]?.trials.find(({ cell }) => cell === 'race slow')
        if (load) Object.assign(load, change)
      })
      equal(claim.verdict, 'undecided here')
      match(claim.undecided ?? '', reason)
      equal(claim.ratio, null)
      ok(analysis.cells.every(({ figures }) => figures.rate !== undefined))
    })

  test('is judged on what others took as well, if too little remains without', () => {
    const { claim } = analyse(MEAN, ({ heats }) => {
      for (const load of heats[1]?.trials ?? []) load.disturbed = true
    })
    equal(claim.verdict, 'holds')
    const late = analyse(MEAN, ({ heats }) => {
      for (const load of heats[1]?.trials ?? [])
        Object.assign(load, { disturbed: true, lagHistogram: STALLED })
    })
    equal(late.claim.verdict, 'undecided here')
  })

  test('a generator that hiccupped takes p99 and leaves the median, and reports and claims say so', () => {
    const hiccup = ({ heats }: Result) => {
      for (const load of heats.flatMap(({ trials }) => trials)) load.histogram = LONG_TAILED
      for (const load of heats[0]?.trials ?? []) load.lagHistogram = HICCUP
    }
    const claims = LATE.claims.map((one) => ({ ...one, metric: 'p99-latency' as const }))
    const { result, analysis, claim } = analyse({ ...LATE, claims }, hiccup)
    match(claim.undecided ?? '', /^the latency of fast is void: the generator was late$/)
    const [fast] = analysis.cells
    const late = ['mean-latency', 'p97.5-latency', 'p99-latency']
    deepEqual(fast?.openLoop, { launches: 2, voidedBecause: null, late })
    equal(fast?.figures['median-latency']?.value.toFixed(4), '0.0008')
    const text = formatTerminal(documentOf(result), { columns: 80, color: false })
    match(text.replace(/\s+/g, ' '), /No p99 of fast, slow and wide: in more than half/)
  })

  test('the first load of a heat that counts is used', () => {
    const { analysis } = analyse(LATE, ({ heats }) => {
      for (const { trials } of heats)
        trials.unshift(...trials.map((load) => ({ ...load, lagHistogram: STALLED, histogram: STALLED })))
    })
    equal(analysis.cells[0]?.figures['p99-latency']?.value.toFixed(6), '0.000990')
  })

  test('a system that is too slow for the rate says so, one that was not asked is not judged', () => {
    const tooSlow = (result: Result, most: number) => {
      for (const { commonRate } of result.heats.slice(0, most))
        if (commonRate) commonRate.tooSlow = ['race slow']
      for (const cell of result.cells) if (cell.app === 'wide') cell.openLoop = false
    }
    const once = analyse(MEAN, (result) => tooSlow(result, 1))
    equal(once.claim.verdict, 'holds', 'one heat in which it stalled')
    const { result, analysis } = analyse(MEAN, (all) => tooSlow(all, all.heats.length))
    match(
      analysis.claims[0]?.undecided ?? '',
      /10,050 requests per second are more than 90 % of what it can do$/,
    )
    const [, , wide] = result.cells
    equal(wide && openLoopsOf(wide, result.heats, result.settings), null)
  })
})

describe('the loads of a heat', () => {
  const { cells, settings } = measureOnPaper({ fast: [1], slow: [1], wide: [1] }, LATE)
  const FULL = { fast: 20_000, slow: 20_000, wide: 20_000 }

  /** Loads of which only the rate is known, after slices of each rate. */
  async function offer(
    rates: Readonly<Record<string, number>>,
    disturbed: readonly string[] = [],
    known: number | null = 10_000,
    lags: string[] = [],
  ) {
    const slices = Object.entries(rates).map(([system, rate]) => ({
      ...paperSliceOf(system, rate, 'measure'),
      disturbed: disturbed.includes(system),
    }))
    const offered = {
      ...{ requests: 0, seconds: 1, checked: 0, errors: {}, statuses: {} },
      ...{ lag: null, series: [] },
      ...{ cpu: { seconds: 1 }, self: { bound: false, waitSeconds: 0 } },
    }
    const generator = {
      offer: async ({ rate = 0, onPhase }: { rate?: number; onPhase?: (phase: 'open') => unknown }) => {
        await onPhase?.('open')
        return {
          ...{ ...offered, rate, openLoop: { offered: rate, achieved: rate } },
          histograms: { latency: HISTOGRAM, lag: lags.shift() ?? null },
        }
      },
    } as unknown as LastingGenerator
    const server = {
      target: { host: '127.0.0.1', port: 1 },
      whyEnded: async () => null,
      beginAccount: async () => async () => () => ({ cpuSeconds: {}, disturbance: QUIET }),
    } as unknown as Server
    const record = { ...newHeat({ race: 'race', heat: 1 }), slices }
    const course = {
      ...{
        planned: { race: 'race', heat: 1, seed: 1 },
        random: createRandom(1),
        record,
        beganAt: 0,
      },
      ...{ failed: new Set(), signal: new AbortController().signal, expectedMs: 1, onProgress() {} },
      rates: new Map(cells.map(({ id }) => [id, 1])),
      entrants: cells.map((cell) => ({ cell, server, workload: { path: '/json', expect: {} }, generator })),
    } as unknown as Course
    await measureAtCommonRate(course, {
      ...{ experiment: LATE, settings, known: known ?? undefined },
    })
    return { loads: record.trials, ...record.commonRate }
  }

  test('one for each, whatever others do', async () => {
    const { loads, tooSlow } = await offer(FULL)
    deepEqual(loads.map(({ cell }) => cell.replace('race ', '')).toSorted(), ['fast', 'slow', 'wide'])
    deepEqual(tooSlow, [])
  })

  test('again if the generator was so late that the median does not count, three times at most', async () => {
    equal((await offer(FULL, [], 10_000, [STALLED, STALLED, HICCUP])).loads.length, 5)
    equal((await offer(FULL, [], 10_000, Array(9).fill(STALLED))).loads.length, 9)
  })

  test('at the known rate, or at one that this heat finds', async () => {
    const rates = { fast: 40_000, slow: 11_200, wide: 900 }
    equal((await offer(rates)).rate, 10_000)
    equal((await offer(rates, [], null)).rate, 5600)
  })

  test('none for a system whose capacity is too near; a disturbed capacity says nothing', async () => {
    const rates = { fast: 11_000, slow: 11_200, wide: 900 }
    const { loads, tooSlow } = await offer(rates, ['wide'])
    deepEqual(tooSlow, ['race fast'])
    deepEqual(loads.map(({ cell }) => cell).toSorted(), ['race slow', 'race wide'])
  })
})

test('only others and the generator make a load untimely', () => {
  ok(isTimely(soundLoad('fast')))
  ok(isTimely(soundLoad('fast', { achieved: 1, errors: { timeout: 9 } })))
  for (const change of [{ disturbed: true }, { generatorBound: true }, { lag: at(2) }])
    ok(!isTimely(soundLoad('fast', change)), JSON.stringify(change))
})

test('reports show the latencies with their rate', () => {
  const { result } = analyse(MEAN, ({ heats }) => {
    for (const { trials } of heats)
      for (const load of trials) if (load.cell === 'race wide') load.errors = { reset: 1 }
  })
  const text = formatTerminal(documentOf(result), { columns: 80, color: false })
  for (const line of text.split('\n')) ok(line.length <= 80, line)
  match(text, / 0\.50 +0\.5\d \(0\.\d+–0\.\d+\) +holds\n/)
  match(text, /^system +req\/s +95 % +CPU µs +p50 ms +p99 ms +mean ms +p90 ms +p97\.5 ms$/m)
  match(text, /^fast .* 0\.500 +0\.990 +0\.510 +0\.900 +0\.975$/m)
  match(text, /^Latencies: open loop at 10,050 requests per second/m)
  match(text, /The latency of wide is void: 1 of 10001 requests failed \(1 reset\)\./)
})
