import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { latencyFigures } from '../../../src/judge/openloop/latency-figures.ts'
import type { LatencyLevel, LatencyPercentile } from '../../../src/model/figures.ts'
import type { Trial } from '../../../src/model/heat.ts'
import { CELL, cellOf, histogramOf, resultOf, trialOf, uniform } from './trials.ts'

/** A level on one launch: latencies evenly spread up to `max` milliseconds. */
function levelOn(
  launch: number,
  max: number,
  more: Partial<Trial> & { count?: number; lagMax?: number } = {},
): Trial {
  const { count = 4000, lagMax = max / 1000, ...rest } = more
  const [histogram, lagHistogram] = [histogramOf(uniform(count, max)), histogramOf(uniform(count, lagMax))]
  return trialOf({ launch, requests: count, histogram, lagHistogram, ...rest })
}

function levelFigures(trials: readonly Trial[], level = '50 %'): LatencyLevel {
  const [figures] = latencyFigures(resultOf('latency', trials))
  const found = figures?.levels.find((one) => one.level === level)
  assert.ok(found !== undefined)
  return found
}

function at(figures: LatencyLevel, percentile: number): LatencyPercentile {
  const found = figures.percentiles.find((one) => one.percentile === percentile)
  assert.ok(found !== undefined)
  return found
}

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && Math.abs(actual / expected - 1) < 2e-3, `${actual} is not ${expected}`)
}

describe('percentiles of a level', () => {
  test('are of all launches together, with an interval over launches', () => {
    const figures = levelFigures([levelOn(1, 9), levelOn(2, 10), levelOn(3, 11)])
    const { ms, low, high, beyond, withheld } = at(figures, 50)
    // Half of all lies below m, where m / 9 + m / 10 + m / 11 = 3 / 2.
    const median = 1.5 / (1 / 9 + 1 / 10 + 1 / 11)
    near(ms, median)
    // The launches' own medians are 4.5, 5 and 5.5: their logarithms have a standard deviation of 0.10045; t(0.975, 2) = 4.30265.
    const factor = Math.exp((4.30265 * 0.10045) / Math.sqrt(3))
    near(low, median / factor)
    near(high, median * factor)
    assert.equal(withheld, null)
    assert.ok(Math.abs(beyond - 6000) < 60, `${beyond}`)
    assert.deepEqual([figures.launches, figures.requests, figures.voidedBecause], [3, 12_000, null])
    near(figures.lagP99Ms, 0.01067)
  })

  test('are withheld with fewer than 100 samples beyond them', () => {
    const figures = levelFigures([levelOn(1, 10), levelOn(2, 10), levelOn(3, 10)])
    near(at(figures, 99).ms, 9.9)
    assert.ok(Math.abs(at(figures, 99).beyond - 120) < 12)
    assert.deepEqual(at(figures, 99.9).ms, null)
    assert.equal(at(figures, 99.9).withheld, 'too few samples')
    const fewer = levelFigures([1, 2, 3].map((launch) => levelOn(launch, 10, { count: 3000 })))
    assert.equal(at(fewer, 99).withheld, 'too few samples')
    near(at(fewer, 90).ms, 9)
  })

  test('are withheld with fewer than three launches, however many samples there are', () => {
    const figures = levelFigures([levelOn(1, 10, { count: 50_000 }), levelOn(2, 10, { count: 50_000 })])
    assert.ok(figures.percentiles.every(({ ms, withheld }) => ms === null && withheld === 'too few launches'))
  })

  test('are withheld where requests that the generator sent late may have moved them by a tenth', () => {
    const withStalls = (late: number) =>
      levelFigures(
        [1, 2, 3].map((launch) => ({
          ...levelOn(launch, 10),
          lagHistogram: histogramOf([...uniform(4000 - late, 0.01), ...uniform(late, 30)]),
        })),
      )
    near(at(withStalls(100), 99).ms, 9.9)
    const late = at(withStalls(400), 99)
    assert.deepEqual([late.ms, late.withheld], [null, 'the generator was late'])
  })

  test('do not hear a launch that others disturbed, nor one at which the generator was the limit', () => {
    const quiet = [levelOn(1, 10), levelOn(2, 10), levelOn(3, 10)]
    const loud = [levelOn(4, 90, { disturbed: true }), levelOn(5, 90, { generatorBound: true })]
    const figures = levelFigures([...quiet, ...loud])
    near(at(figures, 50).ms, 5)
    assert.equal(figures.launches, 3)
  })
})

describe('a level', () => {
  test('is void with one error on any launch', () => {
    const wrong = levelOn(3, 10, { errors: { reset: 1, timeout: 9 }, disturbed: true })
    const figures = levelFigures([levelOn(1, 10), levelOn(2, 10), wrong])
    assert.match(figures.voidedBecause ?? '', /1 of 4001 requests failed \(1 reset\)/)
    assert.deepEqual(figures.percentiles, [])
    assert.deepEqual(figures.curve, [])
  })

  test('is void where every launch fell behind', () => {
    const behind = levelFigures([1, 2, 3].map((launch) => levelOn(launch, 10, { achieved: 800 })))
    assert.equal(behind.voidedBecause, '800 of 1,000 requests per second got a response')
  })

  test('is that of the machine as it was where others took most launches', () => {
    const taken = { disturbed: true, generatorBound: true, achieved: 800 }
    const figures = levelFigures([levelOn(1, 5), levelOn(2, 10, taken), levelOn(3, 10, taken)])
    assert.deepEqual([figures.launches, figures.voidedBecause], [3, null])
    near(at(figures, 99).ms, 9.857)
  })

  test('counts a generator that was late by its lag alone', () => {
    const lag = { p50: 0, p90: 0.1, p99: 3, p999: 5, max: 9 }
    const figures = levelFigures([1, 2, 3].map((launch) => levelOn(launch, 10, { lag, lagMax: 3 })))
    assert.equal(figures.voidedBecause, null)
    assert.ok(figures.percentiles.every(({ ms }) => ms === null))
    assert.equal(at(figures, 99).withheld, 'the generator was late')
    const bound = levelFigures([levelOn(1, 10, { generatorBound: true, achieved: 800 })])
    assert.match(bound.voidedBecause ?? '', /the generator could not offer them/)
  })

  test('has a curve up to the highest percentile with enough samples', () => {
    const { curve } = levelFigures([levelOn(1, 10), levelOn(2, 10), levelOn(3, 10)])
    assert.ok(curve.length > 10)
    assert.ok(curve.every(({ percentile }) => percentile <= 99))
    assert.ok(curve.some(({ percentile }) => percentile > 90))
    assert.ok(curve.every(({ ms }, index) => ms >= (curve[index - 1]?.ms ?? 0)))
  })

  test('that only others of the role could do says so', () => {
    const slow = cellOf('njs/hello')
    const capacity = trialOf({ cell: slow.id, purpose: 'capacity', level: 'closed loop' })
    const trials = [levelOn(1, 10, { level: 'common' }), capacity]
    const [, figures] = latencyFigures(resultOf('latency', trials, { cells: [CELL, slow] }))
    const common = figures?.levels.find(({ level }) => level === 'common')
    assert.equal(common?.voidedBecause, 'the common rate is more than 90 % of what it can do')
  })

  test('of another role is not missed', () => {
    const page = cellOf('node/ssr')
    const trials = [levelOn(1, 10, { level: 'common' }), levelOn(1, 10, { cell: page.id })]
    const [, figures] = latencyFigures(resultOf('latency', trials, { cells: [CELL, page] }))
    assert.deepEqual(
      figures?.levels.map(({ level }) => level),
      ['50 %'],
    )
  })
})

test('a cell that failed or was never loaded has no latencies, and says why', () => {
  const failures = [{ cell: CELL.id, launch: 1, reason: 'the app ended with exit code 1' }]
  const [failed] = latencyFigures(resultOf('latency', [], { failures }))
  assert.equal(failed?.voidedBecause, 'the app ended with exit code 1')
  const [survey] = latencyFigures(
    resultOf('latency', [trialOf({ purpose: 'capacity', level: 'closed loop' })]),
  )
  assert.equal(survey?.voidedBecause, 'it was not measured')
})
