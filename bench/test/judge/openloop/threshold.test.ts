import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  highestKept,
  isGeneratorBound,
  isKept,
  isLost,
  nextHigher,
  type Outcome,
  type Step,
} from '../../../src/judge/openloop/capacity-figures.ts'

function steps(...list: [rate: number, outcome: Outcome][]): Step[] {
  return list.map(([rate, outcome]) => ({ rate, outcome }))
}

describe('the highest rate that is kept', () => {
  test('is the highest one below all that failed', () => {
    assert.equal(highestKept(steps([100, 'kept'], [120, 'failed'], [110, 'kept'])), 110)
  })

  test('is the one that contradicts the fewest steps', () => {
    // 100 as the limit contradicts one step (a lucky one at 140), 140 contradicts two.
    assert.equal(
      highestKept(steps([100, 'kept'], [120, 'failed'], [130, 'failed'], [140, 'kept'], [100, 'kept'])),
      100,
    )
    // One unlucky step at 100 does not hide what 110 kept twice.
    assert.equal(highestKept(steps([100, 'failed'], [110, 'kept'], [110, 'kept'], [120, 'failed'])), 110)
  })

  test('is the lower one of equals', () => {
    assert.equal(highestKept(steps([100, 'kept'], [110, 'failed'], [110, 'kept'])), 100)
  })

  test('is unknown where no fewer steps failed than kept', () => {
    assert.equal(highestKept(steps([100, 'kept'], [100, 'failed'])), null)
    assert.equal(highestKept(steps([100, 'failed'])), null)
    assert.equal(highestKept([]), null)
  })

  test('does not hear void steps; a rate that the generator could not offer was not kept', () => {
    assert.equal(highestKept(steps([100, 'kept'], [90, 'void'], [110, 'bound'], [110, 'void'])), 100)
  })
})

describe('evidence about a rate', () => {
  test('takes two steps and a majority', () => {
    const mixed = steps(
      [100, 'kept'],
      [110, 'kept'],
      [110, 'kept'],
      [110, 'failed'],
      [120, 'failed'],
      [120, 'bound'],
    )
    assert.equal(isKept(mixed, 100), false)
    assert.equal(isKept(mixed, 110), true)
    assert.equal(isKept([...mixed, ...steps([110, 'failed'])], 110), false)
    assert.equal(isLost(mixed, 110), false)
    assert.equal(isLost(mixed, 120), true)
    assert.equal(isLost(steps([120, 'failed']), 120), false)
  })

  test('names the generator where it is the reason for most', () => {
    assert.equal(isGeneratorBound(steps([120, 'failed'], [120, 'bound'], [120, 'bound']), 120), true)
    assert.equal(isGeneratorBound(steps([120, 'failed'], [120, 'bound']), 120), false)
  })

  test('comes from the next rung above, not from one further up', () => {
    const tried = steps([1000, 'kept'], [1020, 'failed'], [1082, 'failed'])
    assert.equal(nextHigher(tried, 1000), 1020)
    assert.equal(nextHigher(tried, 1020), null)
  })
})
