import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeConformance } from '../../../src/judge/gates.ts'
import { createSpec } from '../../fixtures/evidence.ts'

const cell = createSpec({ app: 'fastify/hello#2', twinOf: 'fastify/hello' })

test('a cell that keeps the contract passes', () => {
  assert.deepEqual(
    judgeConformance({ mode: 'native', cell, conformance: { checked: 48, differences: [] } }),
    {
      gate: 'conformance',
      verdict: 'passed',
      finding: '48 checks of the contract passed',
      advice: null,
    },
  )
})

test('the first difference is told, the others are counted, the app is named without its number', () => {
  const one = judgeConformance({
    mode: 'native',
    cell,
    conformance: { checked: 48, differences: ['a: expected 1, got 2'] },
  })
  assert.equal(one.verdict, 'failed')
  assert.equal(one.finding, 'it breaks the contract: a: expected 1, got 2')
  assert.equal(one.advice, 'Correct fastify/hello, then measure again.')
  const three = judgeConformance({
    mode: 'native',
    cell,
    conformance: { checked: 48, differences: ['a', 'b', 'c'] },
  })
  assert.equal(three.finding, 'it breaks the contract: a, and 2 more differences')
})

test('a cell that was not checked does not pass', () => {
  const { verdict, finding } = judgeConformance({ mode: 'native', cell, conformance: null })
  assert.deepEqual([verdict, finding], ['failed', 'the contract was not checked'])
})
