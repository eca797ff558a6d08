import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeResponses } from '../../../src/judge/gates.ts'
import { createLaunch, createSlice } from '../../fixtures/evidence.ts'

test('responses that were compared and right pass', () => {
  const { verdict, finding } = judgeResponses({
    launches: [createLaunch({ checked: 600 }), createLaunch({ checked: 700, disturbed: true })],
  })
  assert.deepEqual([verdict, finding], ['passed', '2,100 responses were compared, all were right'])
})

test('one wrong body voids the cell, wherever it came', () => {
  for (const slice of [{ errors: { body: 1 } }, { errors: { body: 1 }, disturbed: true }]) {
    assert.equal(judgeResponses({ launches: [createLaunch({}, slice)] }).verdict, 'failed')
  }
  const warmup = createSlice({ phase: 'warmup', errors: { body: 2 } })
  const { verdict, finding } = judgeResponses({ launches: [[warmup, createSlice()]] })
  assert.deepEqual([verdict, finding], ['failed', '2 responses had another body than expected'])
})

test('what nobody compared does not pass', () => {
  const launch = createLaunch({}, {}).map((slice) => ({ ...slice, checked: 0 }))
  assert.equal(judgeResponses({ launches: [launch] }).verdict, 'failed')
  assert.equal(judgeResponses({ launches: [[...launch, createSlice({ checked: 1 })]] }).verdict, 'passed')
})

test('other errors have a gate of their own', () => {
  assert.equal(judgeResponses({ launches: [createLaunch({ errors: { status: 1 } })] }).verdict, 'passed')
})
