import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { capacityFigures, outcomeOf } from '../../../src/judge/openloop/capacity-figures.ts'
import type { Trial } from '../../../src/model/heat.ts'
import type { Result } from '../../../src/model/result.ts'
import { CELL, cellOf, resultOf, trialOf } from './trials.ts'

const BOUND_MS = 50

function figures(trials: readonly Trial[], more: Parameters<typeof resultOf>[2] = {}) {
  const [first] = capacityFigures(resultOf('capacity', trials, { p99Ms: BOUND_MS, ...more }))
  assert.ok(first !== undefined)
  return first
}

function withP99(p99: number, more: Partial<Trial> = {}): Trial {
  return trialOf({ latency: { p50: 1, p90: 2, p99, p999: 2 * p99, max: 3 * p99 }, ...more })
}

/** A launch whose staircase settles at this rate. */
function settled(launch: number, rate: number): Trial[] {
  const kept = withP99(20, { launch, level: `${rate}/s` })
  const failed = withP99(80, { launch, level: `${Number((rate * 1.02).toPrecision(4))}/s` })
  const closed = trialOf({
    launch,
    purpose: 'capacity',
    level: 'closed loop',
    offered: null,
    achieved: rate * 1.1,
  })
  return [closed, kept, failed, kept, failed]
}

describe('a step of a capacity search', () => {
  test('is kept up to the bound, and fails above it', () => {
    assert.equal(outcomeOf(withP99(50), BOUND_MS).outcome, 'kept')
    assert.deepEqual(outcomeOf(withP99(50.1), BOUND_MS), { outcome: 'failed', reason: 'p99 is above 50 ms' })
  })

  test('fails with one error, and where responses fall behind, however short they take', () => {
    assert.match(
      outcomeOf(trialOf({ errors: { timeout: 1 } }), BOUND_MS).reason ?? '',
      /1 of 10001 requests failed/,
    )
    assert.equal(outcomeOf(trialOf({ achieved: 900 }), BOUND_MS).outcome, 'failed')
  })

  test('is void where others used the machine or the generator was late, whatever it measured', () => {
    for (const p99 of [1, 500]) {
      assert.equal(outcomeOf(withP99(p99, { disturbed: true }), BOUND_MS).outcome, 'void')
      const lag = { p50: 0, p90: 1, p99: 5.1, p999: 6, max: 7 }
      assert.equal(outcomeOf(withP99(p99, { lag }), BOUND_MS).outcome, 'void')
    }
  })

  test('counts where most steps of its launch are so: it kept the bound, or it did not', () => {
    const lag = { p50: 0, p90: 1, p99: 5.1, p999: 6, max: 7 }
    for (const more of [{ disturbed: true }, { lag }]) {
      assert.equal(outcomeOf(withP99(20, more), BOUND_MS, true).outcome, 'kept')
      assert.equal(outcomeOf(withP99(80, more), BOUND_MS, true).outcome, 'failed')
    }
    const starved = { disturbed: true, generatorBound: true, achieved: 900 }
    assert.equal(outcomeOf(withP99(20, starved), BOUND_MS, true).outcome, 'failed', 'others took its core')
  })

  test('is the generator’s limit where that could not offer the rate', () => {
    assert.equal(outcomeOf(withP99(500, { generatorBound: true, achieved: 900 }), BOUND_MS).outcome, 'bound')
  })

  test('does not hear a stall of the generator that is short beside the bound', () => {
    const lag = { p50: 0, p90: 0.1, p99: 1.5, p999: 3, max: 7 }
    assert.equal(outcomeOf(withP99(4, { generatorBound: true, lag }), BOUND_MS).outcome, 'kept')
    assert.equal(outcomeOf(withP99(80, { generatorBound: true, lag }), BOUND_MS).outcome, 'failed')
  })

  test('says when its p99 rests on few responses', () => {
    assert.deepEqual(outcomeOf(withP99(20, { requests: 3400 }), BOUND_MS), {
      outcome: 'kept',
      reason: 'only 34 responses lie beyond p99',
    })
    assert.equal(outcomeOf(withP99(20, { requests: 10_000 }), BOUND_MS).reason, null)
  })
})

describe('a capacity', () => {
  test('is the mean over launches with an interval, and names what confirmed it', () => {
    const { rate, confirmed, tried, closedLoop, steps, voidedBecause } = figures([
      ...settled(1, 1000),
      ...settled(2, 1000),
      ...settled(3, 1030),
      ...settled(4, 970),
    ])
    assert.ok(rate !== null && Math.abs(rate.value - 999.8) < 1, `${rate?.value}`)
    assert.ok((rate.low ?? 0) > 950 && (rate.low ?? 0) < 980 && (rate.high ?? 0) > 1020)
    assert.deepEqual([confirmed, tried], [3, 3])
    assert.ok(closedLoop !== null && Math.abs(closedLoop - 1100) < 2)
    assert.equal(steps.length, 16)
    assert.deepEqual(steps[1], {
      launch: 1,
      rate: 1020,
      p99Ms: 80,
      kept: false,
      reason: 'p99 is above 50 ms',
    })
    assert.equal(voidedBecause, null)
  })

  test('is not confirmed by a launch that ends far below it, or shows nothing', () => {
    const lost = withP99(80, { launch: 4, level: '900/s' })
    const { confirmed, tried } = figures([...settled(1, 1000), ...settled(2, 1000), ...settled(3, 880), lost])
    assert.deepEqual([confirmed, tried], [1, 3])
  })

  test('does not count a rate that was kept only once', () => {
    const { rate, voidedBecause } = figures([withP99(20, { level: '1000/s' })])
    assert.equal(rate, null)
    assert.equal(voidedBecause, 'no rate kept p99 under 50 ms twice')
  })

  test('is void where no rate is kept, and where nothing was measured', () => {
    assert.equal(figures([withP99(80)]).voidedBecause, 'no rate kept p99 under 50 ms')
    assert.equal(figures([]).voidedBecause, 'it was not measured')
  })

  test('is that of the machine as it was where others took most steps of a launch', () => {
    const taken = (launch: number, rate: number) =>
      settled(launch, rate).map((trial) => ({ ...trial, disturbed: true }))
    const all = figures([...taken(1, 600), ...taken(2, 600)])
    assert.deepEqual([all.voidedBecause, Math.round(all.rate?.value ?? 0)], [null, 600])
    assert.equal(Math.round(all.closedLoop ?? 0), 660)
    const few = figures([
      ...settled(1, 1000),
      ...settled(2, 1000),
      withP99(80, { launch: 2, disturbed: true }),
    ])
    assert.equal(Math.round(few.rate?.value ?? 0), 1000)
    assert.deepEqual(few.steps.at(-1)?.reason, 'others used the machine')
  })

  test('is void where the generator is the limit, and says how far it came', () => {
    const kept = withP99(20, { level: '1000/s' })
    const bound = withP99(20, { level: '1020/s', generatorBound: true, achieved: 900 })
    const { rate, voidedBecause } = figures([kept, bound, kept, bound])
    assert.equal(rate, null)
    assert.match(
      voidedBecause ?? '',
      /could not offer more than about 1000 requests per second, which were kept/,
    )
  })

  test('is void for a cell that was skipped, failed, or breaks the contract', () => {
    const trials = settled(1, 1000)
    const skipped = cellOf('node/hello', { skipped: 'there is no NGINX' })
    assert.equal(figures(trials, { cells: [skipped] }).voidedBecause, 'there is no NGINX')
    const failures = [{ cell: CELL.id, launch: 2, reason: 'the app ended with exit code 1' }]
    assert.equal(figures(trials, { failures }).voidedBecause, 'the app ended with exit code 1')
    const broken: Result = {
      ...resultOf('capacity', trials, { p99Ms: BOUND_MS }),
      conformance: [
        { cell: CELL.id, checked: 9, differences: ['etag: expected one, got none'], remembered: false },
      ],
    }
    const [found] = capacityFigures(broken)
    assert.equal(found?.voidedBecause, 'it does not keep the contract: etag: expected one, got none')
    assert.equal(found?.rate, null)
  })
})
