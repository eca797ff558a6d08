import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { analyse as analyseStudy } from '../../src/judge/analysis.ts'
import { isTimely, whyNotKept, whyWrong } from '../../src/judge/gates.ts'
import { isMeanSpoiled, isSpoiled, openLoopsOf, valueAt } from '../../src/judge/latencies.ts'
import type { Trial } from '../../src/result/heat.ts'
import type { Result } from '../../src/result/result.ts'
import { histogramOf, LATE, measureOnPaper, trialOf, uniform } from '../fixtures/laboratory.ts'

const late = (ms: number) => ({ p99: ms })

/** So many of 1,000 requests were this late. */
function lags(count: number, ms: number): string {
  return histogramOf(uniform(1000, 0.001).fill(ms, 1000 - count))
}

const HISTOGRAM = histogramOf(uniform(1000, 1))

describe('a percentile', () => {
  const is = (count: number, ms: number, percentile = 50) => isSpoiled(HISTOGRAM, lags(count, ms), percentile)

  test('is spoiled by as many late requests as could have moved it by 10 %', () => {
    deepEqual([is(22, 5), is(24, 5), is(44, 5, 99), is(46, 5, 99)], [false, true, false, true])
  })

  test('counts a request by how late it was, and not if that is under a tenth of the percentile', () => {
    deepEqual([is(40, 0.25), is(40, 0.5), is(1000, 0.049), is(1000, 0.06)], [false, true, false, true])
  })

  test('is not judged where nobody knows the lag', () => {
    equal(isSpoiled(HISTOGRAM, null, 99), false)
    equal(isMeanSpoiled(null, 1), false)
  })

  test('is the smallest value that so many do not exceed', () => {
    const histogram = histogramOf([0.1, 0.1, 0.2, 0.3, 5, 7.5, 9])
    const found = [10, 28, 29, 50, 100].map((one) => valueAt(histogram, one).toFixed(1))
    deepEqual(found, ['0.1', '0.1', '0.2', '0.3', '9.0'])
  })
})

test('a mean is spoiled by a mean lag of a twentieth of it: as much again waits behind', () => {
  const is = (count: number, ms: number) => isMeanSpoiled(lags(count, ms), 1)
  deepEqual([is(1000, 0.049), is(1000, 0.052), is(20, 3)], [false, true, true])
})

describe('an open-loop trial', () => {
  // What took too long may be the fault of others.
  for (const [why, trial] of [
    [null, { errors: { timeout: 9, connect: 1 }, disturbed: true }],
    ['1 of 10,000 requests failed (1 body)', { errors: { timeout: 9, body: 1 }, disturbed: true }],
  ] as const)
    test(`${why === null ? 'counts' : 'is void'}: ${JSON.stringify(trial)}`, () =>
      equal(whyWrong(trialOf(trial)), why))

  test('is void where responses fell more than 1 % behind, and that was not the generator', () => {
    equal(whyNotKept(trialOf({ achieved: 990 })), null)
    equal(whyNotKept(trialOf({ generatorBound: true, lag: late(1.2) })), null)
    equal(whyNotKept(trialOf({ achieved: 989 })), '989 of 1,000 requests per second got a response')
  })

  test('is untimely by others and by the generator only', () => {
    ok(isTimely(trialOf({ achieved: 1, errors: { timeout: 9 } })))
    for (const change of [{ disturbed: true }, { generatorBound: true }, { lag: late(2) }])
      ok(!isTimely(trialOf(change)), JSON.stringify(change))
  })
})

describe('a claim about latency', () => {
  /** Lags of a generator that stalled for a fifth of the time, and of one that only spoils a p99 far above the median. */
  const [STALLED, HICCUP] = [lags(200, 2), lags(20, 30)]
  const LONG_TAILED = histogramOf([...uniform(900, 0.5).map((ms) => 0.5 + ms), ...uniform(100, 20)])

  /** Two heats of the paper's systems under the same traffic. */
  function analyse(metric: 'mean-latency' | 'p99-latency', change: (result: Result) => void = () => {}) {
    const study = { ...LATE, claims: LATE.claims.map((one) => ({ ...one, metric })) }
    const rates = { fast: [40_000, 41_000], slow: [20_100, 20_000], wide: [40_000, 41_000] }
    const result = measureOnPaper(rates, study)
    const means = { fast: [0.5, 0.52], slow: [1, 1.02], wide: [0.6, 0.61] }
    for (const [index, heat] of result.heats.entries()) {
      heat.commonRate = { rate: 10_050, tooSlow: [] }
      const sound = { offered: 10_000, achieved: 10_000, histogram: HISTOGRAM }
      heat.trials = Object.entries(means).map(([system, all]) =>
        trialOf({ ...sound, cell: `race ${system}`, meanMs: all[index] ?? null }),
      )
    }
    change(result)
    const analysis = analyseStudy(study, result)
    const [claim] = analysis.claims
    if (claim === undefined) throw new Error('There is one claim.')
    return { result, analysis, claim }
  }

  test('is judged on the open loop', () => {
    const { claim, analysis } = analyse('mean-latency')
    ok(Math.abs((claim.ratio?.value ?? 0) - 0.505) < 0.001, String(claim.ratio?.value))
    equal(claim.verdict, 'holds')
    deepEqual(analysis.openRates, [{ race: 'race', rate: 10_050 }])
  })

  test('percentiles are of the first load of each launch that counts, if enough samples lie beyond them', () => {
    const figuresOf = (requests: number) =>
      analyse('mean-latency', ({ heats }) => {
        for (const { trials } of heats) {
          for (const load of trials) load.requests = requests
          trials.unshift(...trials.map((load) => ({ ...load, lagHistogram: STALLED, histogram: STALLED })))
        }
      }).analysis.cells[0]?.figures
    const { 'median-latency': p50, 'p90-latency': p90, 'p99-latency': p99 } = figuresOf(10_000) ?? {}
    const shown = [p50, p90, p99].map((one) => one?.value.toFixed(6))
    deepEqual(shown, ['0.000500', '0.000900', '0.000990'])
    const few = figuresOf(3000)
    ok(few?.['p90-latency'] !== undefined && few['p99-latency'] === undefined, '30 of the 33 that it needs')
  })

  const VOIDS: [why: string, Partial<Trial>, RegExp][] = [
    ['an error', { errors: { reset: 1 } }, /^the latency of slow is void: 1 of 10,001 requests failed/],
    ['a server that falls behind', { achieved: 9000 }, /: 9,000 of 10,000 requests per second got a /],
    ['a late generator', { lagHistogram: STALLED }, /: the generator was late, .* in 1 of 2 heats$/],
    ['nothing compared', { checked: 0 }, /nothing was compared, in 1 of 2 heats$/],
  ]
  for (const [why, change, reason] of VOIDS)
    test(`is undecided after ${why}, and the rates stay`, () => {
      const { claim, analysis } = analyse('mean-latency', ({ heats }) => {
        const load = heats[1]?.trials.find(({ cell }) => cell === 'race slow')
        if (load) Object.assign(load, change)
      })
      equal(claim.verdict, 'undecided here')
      match(claim.undecided ?? '', reason)
      equal(claim.ratio, null)
      ok(analysis.cells.every(({ figures }) => figures.rate !== undefined))
    })

  test('is judged on what others took as well, if too little remains without', () => {
    const verdictOf = (change: Partial<Trial>) =>
      analyse('mean-latency', ({ heats }) => {
        for (const load of heats[1]?.trials ?? []) Object.assign(load, { disturbed: true, ...change })
      }).claim.verdict
    deepEqual([verdictOf({}), verdictOf({ lagHistogram: STALLED })], ['holds', 'undecided here'])
  })

  test('a generator that hiccupped takes p99 and leaves the median', () => {
    const { analysis, claim } = analyse('p99-latency', ({ heats }) => {
      for (const load of heats.flatMap(({ trials }) => trials)) load.histogram = LONG_TAILED
      for (const load of heats[0]?.trials ?? []) load.lagHistogram = HICCUP
    })
    match(claim.undecided ?? '', /^the latency of fast is void: the generator was late$/)
    const [fast] = analysis.cells
    const spoiled = ['mean-latency', 'p97.5-latency', 'p99-latency']
    deepEqual(fast?.openLoop, { launches: 2, voidedBecause: null, late: spoiled })
    equal(fast?.figures['median-latency']?.value.toFixed(4), '0.0008')
  })

  test('a system that is too slow for the rate says so, one that was not asked is not judged', () => {
    const tooSlow = (most: number) =>
      analyse('mean-latency', ({ heats, cells }) => {
        for (const { commonRate } of heats.slice(0, most)) if (commonRate) commonRate.tooSlow = ['race slow']
        for (const cell of cells) if (cell.app === 'wide') cell.openLoop = false
      })
    equal(tooSlow(1).claim.verdict, 'holds', 'one heat in which it stalled')
    const { result, claim } = tooSlow(2)
    match(claim.undecided ?? '', /10,050 requests per second are more than 90 % of what it can do$/)
    const [, , wide] = result.cells
    equal(wide && openLoopsOf(wide, result.heats, result.settings), null)
  })
})
