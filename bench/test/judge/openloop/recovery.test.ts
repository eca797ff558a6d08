import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { episodesOf, recoveredAfter } from '../../../src/judge/openloop/overload-figures.ts'
import type { Trial } from '../../../src/model/heat.ts'
import { trialOf } from './trials.ts'

const OVERLOAD_MS = 2000

/** p99 before the overload is 10 ms, so up to 20 ms is back. */
const before = trialOf()

/** Its queue took 1.5 s to drain. */
const overload = trialOf({ purpose: 'overload', level: '2×', seconds: 3.5 })

/** Windows of 100 ms with these p99. */
function recovery(p99s: readonly number[], requests = 50): Trial {
  const series = p99s.map((p99, index) => ({ at: index / 10, seconds: 0.1, requests, p99 }))
  return trialOf({ purpose: 'recovery', seconds: p99s.length / 10, series })
}

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)
}

describe('the time to recover', () => {
  test('is the drain and the windows until p99 is back', () => {
    near(recoveredAfter({ before, overload, recovery: [recovery([90, 30, 20, 12])] }, OVERLOAD_MS), 1.5 + 0.3)
  })

  test('is not decided by one lucky window', () => {
    near(
      recoveredAfter({ before, overload, recovery: [recovery([90, 15, 30, 20, 12])] }, OVERLOAD_MS),
      1.5 + 0.4,
    )
  })

  test('goes on over several loads', () => {
    const loads = [recovery([90, 90, 15]), recovery([15, 15])]
    near(recoveredAfter({ before, overload, recovery: loads }, OVERLOAD_MS), 1.5 + 0.3)
    near(
      recoveredAfter({ before, overload, recovery: [recovery([90, 90]), recovery([90, 9, 9])] }, OVERLOAD_MS),
      1.5 + 0.4,
    )
  })

  test('is unknown where p99 is never back twice in a row, or nothing gets a response', () => {
    assert.equal(
      recoveredAfter({ before, overload, recovery: [recovery([90, 15, 90, 15])] }, OVERLOAD_MS),
      null,
    )
    assert.equal(recoveredAfter({ before, overload, recovery: [recovery([0, 0, 0], 0)] }, OVERLOAD_MS), null)
    assert.equal(recoveredAfter({ before, overload, recovery: [] }, OVERLOAD_MS), null)
  })

  test('takes 5 ms as back, however short p99 was before', () => {
    const short = trialOf({ latency: { p50: 0.1, p90: 0.1, p99: 0.2, p999: 1, max: 1 } })
    near(recoveredAfter({ before: short, overload, recovery: [recovery([6, 5, 4])] }, OVERLOAD_MS), 1.5 + 0.2)
  })
})

describe('episodes', () => {
  test('belong to one launch each, and keep their order', () => {
    const second = { launch: 2 }
    const trials = [
      before,
      overload,
      recovery([90]),
      recovery([9, 9]),
      { ...before, ...second },
      { ...overload, ...second },
    ]
    const [first, last, ...others] = episodesOf(trials)
    assert.deepEqual(others, [])
    assert.equal(first?.recovery.length, 2)
    assert.equal(last?.overload.launch, 2)
    assert.equal(last?.recovery.length, 0)
  })

  test('of a repeated overload are two', () => {
    const trials = [before, { ...overload, disturbed: true }, recovery([9]), before, overload, recovery([9])]
    assert.deepEqual(
      episodesOf(trials).map((one) => [one.overload.disturbed, one.recovery.length]),
      [
        [true, 1],
        [false, 1],
      ],
    )
  })
})
