import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { betterThan, scoreDetections } from '../../../src/judge/study/detection.ts'
import type { Detection } from '../../../src/model/figures.ts'

/** One tool, whose estimates are so many times the truth, with an interval of ±2 %. */
function detections(system: string, errors: readonly number[], race = 'quiet'): Detection[] {
  return errors.map((error, index) => {
    const [planted, truth] = index % 2 === 0 ? [0, 1] : [500, 1.03]
    const estimate = truth * error
    const [low, high] = [estimate / 1.02, estimate * 1.02]
    return {
      ...{ race, system, startedAt: `2026-11-24T16:0${index}:00.000Z`, startgrid: 'abc', truth, planted },
      ...{ seconds: 30, estimate, rules: [{ rule: 'a star', low, high, shown: low > 1 || high < 1 }] },
    }
  })
}

test('errors of all planted differences tell how far a tool is off, and what it could find', () => {
  const [score] = scoreDetections(detections('race', [1.01, 1.01, 1 / 1.01, 1 / 1.01]))
  ok(score)
  ok(Math.abs(score.bias.value - 1) < 1e-12)
  const deviation = Math.log(1.01) * Math.sqrt(4 / 3)
  ok(Math.abs(score.spread.value - deviation) < 1e-12)
  ok(Math.abs(Math.log(score.ideal.value) - 2.802 * deviation) < 1e-12)
  const minutes = 0.5 * (Math.log(score.ideal.value) / Math.log(1.05)) ** 2
  ok(Math.abs(score.minutes - minutes) < 1e-12)
})

test('what a rule shows is counted by what was planted, and its ends divided by the truth say how often it is wrong', () => {
  const [score] = scoreDetections(detections('race', [1, 1, 1.03, 1.03, 0.99]))
  const [rule] = score?.rules ?? []
  deepEqual(rule?.levels, [
    { truth: 1, shown: 1, of: 3 },
    { truth: 1.03, shown: 2, of: 2 },
  ])
  equal(rule?.of, 5)
  equal(rule?.wrong, 2, 'both estimates that are 3 % too high')
  // The second lowest of five lower ends, 1 / 1.02 of the truth.
  ok(Math.abs((rule?.finds ?? 0) - 1.02 / (0.99 + 0.8 * 0.01)) < 1e-3)
})

test('without a verdict a rule is neither right nor wrong; a tool that failed is counted', () => {
  const [first, ...others] = detections('race', [1, 1, 1])
  ok(first)
  const silent = { ...first, rules: [{ rule: 'a star', low: null, high: null, shown: false }] }
  const failed = { ...first, estimate: null, rules: [], failure: 'it broke' }
  const [score] = scoreDetections([silent, failed, ...others])
  equal(score?.results.length, 3)
  deepEqual(score?.failures, ['it broke'])
  const [rule] = score?.rules ?? []
  equal(rule?.of, 2)
  equal(rule?.finds, null)
})

test('every case in which another tool was better is named, but none of a rule that is wrong more often', () => {
  const wide = [1.02, 0.97, 1.02, 0.97, 1.01, 0.98]
  const narrow = [1.001, 1, 0.999, 1.001, 1, 1]
  const cases = (own: readonly number[], other: readonly number[]) =>
    betterThan('race', scoreDetections([...detections('race', own), ...detections('wrk', other)]))
  deepEqual(cases(narrow, wide), [])
  deepEqual(
    cases(wide, narrow).map(({ system, rule, other }) => [system, rule, typeof other]),
    [
      ['wrk', null, 'number'],
      ['wrk', 'a star', 'number'],
      ['wrk', 'a star', 'object'],
    ],
  )
  const high = [1.05, 1.05, 1.05, 1.05, 1.05, 1.05]
  deepEqual(
    cases(wide, high).map(({ rule }) => rule),
    [null],
    'it shows everything, also what is not there',
  )
})
