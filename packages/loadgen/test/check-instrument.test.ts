/** How `pnpm bench check-instrument` decides: on trials that no other process disturbed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type InstrumentCheck, near, runCheck, type Trial } from '../src/instrument/check.ts'
import { formatOutcome } from '../src/instrument/report.ts'

const figures = (value: number) => [near('rate', value, 100, 5)]
const CALM = { figures: figures(101), waitedMs: 3 }
const WRONG = { figures: figures(80), waitedMs: 3 }
const DISTURBED = { figures: figures(80), waitedMs: 500 }

function check(trials: readonly Trial[], more: Partial<InstrumentCheck> = {}): InstrumentCheck {
  const next = trials.values()
  const measure = async () => next.next().value ?? assert.fail('one trial too many')
  return { name: 'the rate', calmMs: 100, measure, ...more }
}

test('a calm trial within the ranges decides at once', async () => {
  assert.deepEqual(await runCheck(check([CALM])), {
    name: 'the rate',
    state: 'sound',
    trials: 1,
    figures: CALM.figures,
  })
})

test('what was disturbed is measured again, and condemns nothing', async () => {
  const { state, trials } = await runCheck(check([DISTURBED, DISTURBED, CALM]))
  assert.deepEqual([state, trials], ['sound', 3])
  const never = await runCheck(check(Array.from({ length: 5 }, () => DISTURBED)))
  assert.deepEqual([never.state, never.trials], ['undecided', 5])
})

test('two calm trials out of range are wrong, one is not', async () => {
  const wrong = await runCheck(check([WRONG, DISTURBED, WRONG]))
  assert.deepEqual([wrong.state, wrong.trials], ['wrong', 3])
  assert.equal((await runCheck(check([WRONG, CALM]))).state, 'sound')
})

test('a miscount is wrong however disturbed it was, and what cannot be tried is absent', async () => {
  const measure = () => Promise.reject(new Error('requests failed\n\n2 !== 0'))
  const { state, reason } = await runCheck(check([], { measure }))
  assert.deepEqual([state, reason], ['wrong', 'requests failed'])
  const absent = await runCheck(check([], { absent: () => 'wrk is not installed' }))
  assert.deepEqual([absent.state, absent.reason], ['absent', 'wrk is not installed'])
})

test('the report shows each figure with its range, and marks what is outside', async () => {
  const text = formatOutcome(await runCheck(check([WRONG, WRONG])))
  assert.match(text, /^wrong {5}the rate \(trial 2\)\n {2}! rate {43} {6}80 {2}\(95 to 105\)$/)
})
