import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { overloadFigures } from '../../../src/judge/openloop/overload-figures.ts'
import type { Trial } from '../../../src/model/heat.ts'
import { CELL, histogramOf, resultOf, trialOf, uniform } from './trials.ts'

/** One launch: the capacity is 1,000/s, 2,000/s are offered for 2 s and drained in 2 s more. */
function episode(launch: number, more: Partial<Trial> = {}, p99s: readonly number[] = [90, 9, 9]): Trial[] {
  const series = p99s.map((p99, index) => ({ at: index / 10, seconds: 0.1, requests: 50, p99 }))
  return [
    trialOf({ launch, purpose: 'capacity', level: 'closed loop', offered: null, achieved: 1000 }),
    trialOf({ launch }),
    trialOf({
      launch,
      purpose: 'overload',
      level: '2×',
      offered: 2000,
      achieved: 1000,
      seconds: 4,
      requests: 4000,
      histogram: histogramOf(uniform(4000, 2000)),
      ...more,
    }),
    trialOf({ launch, purpose: 'recovery', seconds: p99s.length / 10, series }),
  ]
}

function figures(trials: readonly Trial[], failures: Parameters<typeof resultOf>[2] = {}) {
  const [first] = overloadFigures(resultOf('overload', trials, failures))
  assert.ok(first !== undefined)
  return first
}

describe('an overload', () => {
  test('has its right responses per second, their p99, and the time to recover', () => {
    const found = figures([
      ...episode(1),
      ...episode(2, { requests: 3600 }),
      ...episode(3, { requests: 3800 }),
    ])
    assert.ok(Math.abs((found.goodput?.value ?? 0) - 949.1) < 0.5, `${found.goodput?.value}`)
    assert.ok((found.goodput?.low ?? 0) < 900 && (found.goodput?.high ?? 0) > 1000)
    assert.ok(Math.abs((found.goodputShare ?? 0) - 0.949) < 0.001)
    assert.ok(Math.abs((found.p99Ms ?? 0) - 1980) < 5, `${found.p99Ms}`)
    assert.ok(Math.abs((found.recoverySeconds ?? 0) - 2.2) < 1e-9, `${found.recoverySeconds}`)
    assert.deepEqual(
      [found.capacity, found.offered, found.launches].map((one) => Math.round(one ?? 0)),
      [1000, 2000, 3],
    )
    assert.deepEqual([found.errors, found.voidedBecause], [{}, null])
  })

  test('finds errors by kind, and does not count wrong responses as right', () => {
    const errors = { status: 400, body: 100, timeout: 7 }
    const found = figures([...episode(1, { errors }), ...episode(2, { errors: { timeout: 3 } })])
    assert.deepEqual(found.errors, { status: 400, body: 100, timeout: 10 })
    assert.ok(Math.abs((found.goodput?.value ?? 0) - Math.sqrt(875 * 1000)) < 1e-6, `${found.goodput?.value}`)
    assert.equal(found.voidedBecause, null)
  })

  test('counts pages that the app refused apart from errors, and not as right responses', () => {
    const found = figures(episode(1, { errors: { status: 3000, timeout: 7 }, refused: 2990 }))
    assert.deepEqual(found.errors, { status: 10, timeout: 7 })
    assert.equal(found.refused, 2990 / 4)
    assert.equal(Math.round(found.goodput?.value ?? 0), 250)
  })

  test('does not hear what others disturbed', () => {
    const found = figures([...episode(1), ...episode(2, { disturbed: true, requests: 10 })])
    assert.equal(found.launches, 1)
    assert.ok(Math.abs((found.goodput?.value ?? 0) - 1000) < 1e-6)
  })

  test('is that of the machine as it was where others took most launches', () => {
    const taken = { disturbed: true, requests: 2000 }
    const found = figures([...episode(1), ...episode(2, taken), ...episode(3, taken)])
    assert.deepEqual([found.launches, found.voidedBecause], [3, null])
    assert.ok(Math.abs((found.goodput?.value ?? 0) - (1000 * 500 * 500) ** (1 / 3)) < 1e-6)
  })

  test('is typical in its recovery: one launch in three may take for ever, two may not', () => {
    const never = [90, 90, 90]
    const once = figures([...episode(1), ...episode(2, {}, never), ...episode(3)])
    assert.ok(Math.abs((once.recoverySeconds ?? 0) - 2.2) < 1e-9)
    const twice = figures([...episode(1), ...episode(2, {}, never), ...episode(3, {}, never)])
    assert.equal(twice.recoverySeconds, null)
  })

  test('does not time a recovery that others disturbed', () => {
    const slow = episode(2, {}, [90, 90, 90, 90, 9, 9]).map((trial) =>
      trial.purpose === 'recovery' ? { ...trial, disturbed: true } : trial,
    )
    const found = figures([...episode(1), ...slow, ...episode(3)])
    assert.ok(Math.abs((found.recoverySeconds ?? 0) - 2.2) < 1e-9, `${found.recoverySeconds}`)
    assert.equal(found.launches, 3)
    const most = figures([...episode(1), ...slow, ...slow.map((trial) => ({ ...trial, launch: 3 }))])
    assert.ok((most.recoverySeconds ?? 0) > 2.3, 'unless others were there most of the time')
  })

  test('has no p99 without 100 samples beyond it', () => {
    const histogram = histogramOf(uniform(4000, 2000))
    assert.equal(figures(episode(1, { histogram })).p99Ms, null)
  })

  test('is void where the generator offered hardly more than the capacity', () => {
    const found = figures(episode(1, { offered: 1400 }))
    assert.equal(found.voidedBecause, 'the generator could offer no more than 1.4 times the capacity')
    assert.deepEqual([found.goodput, found.p99Ms, found.recoverySeconds], [null, null, null])
  })

  test('is void for a cell that failed or was not measured', () => {
    const failures = [{ cell: CELL.id, launch: 1, reason: 'the app was ended by SIGKILL' }]
    assert.equal(figures([], { failures }).voidedBecause, 'the app was ended by SIGKILL')
    assert.equal(figures([]).voidedBecause, 'it was not measured')
  })
})
