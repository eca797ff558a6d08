/** How `pnpm bench check-instrument` decides: on trials that no other process disturbed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Check, near, runCheck } from '../src/instrument/check.ts'

const CALM = { figures: [near('rate', 101, 100, 5)], waitedMs: 3 }
const WRONG = { figures: [near('rate', 80, 100, 5)], waitedMs: 3 }
const DISTURBED = { ...WRONG, waitedMs: 500 }

/** @param trials what each gives; one more than are needed fails */
function check(...trials: Awaited<ReturnType<Check['measure']>>[]) {
  const next = trials.values()
  const measure = async () => next.next().value ?? assert.fail('one trial too many')
  return runCheck({ name: 'the rate', calmMs: 100, measure })
}

test('a calm trial decides, and what was disturbed condemns nothing', async () => {
  assert.equal((await check(CALM)).state, 'sound')
  assert.equal((await check(DISTURBED, DISTURBED, CALM)).state, 'sound')
  assert.equal((await check(...Array.from({ length: 5 }, () => DISTURBED))).state, 'undecided')
})

test('two calm trials out of range are wrong, one is not', async () => {
  assert.equal((await check(WRONG, CALM)).state, 'sound')
  const wrong = { state: 'wrong', lines: ['! rate: 80 (95 to 105)'] }
  assert.deepEqual(await check(WRONG, DISTURBED, WRONG), wrong)
})

test('a miscount is wrong however disturbed it was, and what cannot be tried is absent', async () => {
  const measure = () => Promise.reject(new Error('requests failed\n\n2 !== 0'))
  const found = await runCheck({ name: 'the rate', calmMs: 100, measure })
  assert.deepEqual(found, { state: 'wrong', lines: ['requests failed'] })
  assert.deepEqual(await check('no wrk'), { state: 'absent', lines: ['no wrk'] })
})
