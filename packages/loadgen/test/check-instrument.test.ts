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
  const { state, text } = await check(WRONG, DISTURBED, WRONG)
  assert.equal(state, 'wrong')
  assert.match(text, /^wrong {5}the rate\n {2}! rate {43} {6}80 {2}\(95 to 105\)\n$/)
})

test('a miscount is wrong however disturbed it was, and what cannot be tried is absent', async () => {
  const measure = () => Promise.reject(new Error('requests failed\n\n2 !== 0'))
  const { text } = await runCheck({ name: 'the rate', calmMs: 100, measure })
  assert.equal(text, 'wrong     the rate\n    requests failed\n')
  assert.equal((await check('wrk is not installed')).text, 'absent    the rate\n    wrk is not installed\n')
})
