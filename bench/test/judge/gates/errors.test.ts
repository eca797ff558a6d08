import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeErrors } from '../../../src/judge/gates.ts'
import type { Slice } from '../../../src/model/heat.ts'
import { createLaunch, createSlice } from '../../fixtures/evidence.ts'

const judge = (...measured: Partial<Slice>[]) =>
  judgeErrors({ launches: [createLaunch({}), createLaunch(...measured)], failures: [] })

test('no error passes, and all responses are counted', () => {
  const { verdict, finding } = judge({}, {})
  assert.deepEqual([verdict, finding], ['passed', 'none of 110,000 requests failed'])
})

test('one error in one slice voids the cell', () => {
  for (const kind of ['connect', 'reset', 'timeout', 'status', 'parse']) {
    const { verdict, finding, advice } = judge({}, { errors: { [kind]: 1 } })
    assert.equal(verdict, 'failed', kind)
    assert.ok(finding.endsWith(`1 ${kind}`), finding)
    assert.match(advice ?? '', /\.$/)
  }
})

test('errors of all slices are added by kind', () => {
  const { finding } = judge({ errors: { reset: 1000, status: 2 } }, { errors: { reset: 3 } })
  assert.equal(finding, '1,005 requests failed beside 110,000 responses: 1,003 reset and 2 status')
})

test('neither a neighbour nor the warm-up excuses an error', () => {
  assert.equal(judge({ errors: { reset: 1 }, disturbed: true }).verdict, 'failed')
  const warmup = createSlice({ phase: 'warmup', errors: { status: 1 } })
  assert.equal(judgeErrors({ launches: [[warmup, createSlice()]], failures: [] }).verdict, 'failed')
})

test('a wrong body has a gate of its own', () => {
  assert.equal(judge({ errors: { body: 3 } }).verdict, 'passed')
})

test('what ended a cell is the finding', () => {
  const { verdict, finding } = judgeErrors({
    launches: [createLaunch({})],
    failures: ['the app was ended by SIGKILL'],
  })
  assert.deepEqual([verdict, finding], ['failed', 'the app was ended by SIGKILL'])
})

test('a cell without a response does not pass, and nothing is known of one that was not asked', () => {
  assert.equal(judgeErrors({ launches: [], failures: [] }).verdict, 'unknown')
  assert.equal(judgeErrors({ launches: [[createSlice({ requests: 0 })]], failures: [] }).verdict, 'failed')
})
