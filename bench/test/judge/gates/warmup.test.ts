import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, judgeWarmup } from '../../../src/judge/gates.ts'
import { countedOf, createLaunch, createSlice, createSpec } from '../../fixtures/evidence.ts'

const judge = (launches: Evidence['launches'], cold?: Evidence['cold']) =>
  judgeWarmup({ cell: createSpec(), launches, counted: countedOf(launches), cold })

test('the length of the warm-up is the cell’s own, in every launch that was measured', () => {
  assert.equal(judge([createLaunch({}, {})]).verdict, 'passed')
  const short = [createSlice({ phase: 'warmup', seconds: 0.94 }), createSlice(), createSlice()]
  const { verdict, finding } = judge([createLaunch({}, {}), short])
  assert.deepEqual([verdict, finding], ['failed', 'only 940 of 1000 ms were discarded before measuring'])
})

test('a slice of warm-up may end a little early', () => {
  assert.equal(judge([[createSlice({ phase: 'warmup', seconds: 0.96 }), createSlice()]]).verdict, 'passed')
})

test('a cell that was cold at first passes without its first slices, and fails if it never became steady', () => {
  const launches = [createLaunch({}, {})]
  const mended = judge(launches, { ratio: 1.4, steady: true })
  assert.deepEqual(
    [mended.verdict, mended.finding],
    [
      'passed',
      '1000 ms were discarded before measuring; the first slices then cost 40 % more than later ones, and do not count',
    ],
  )
  const { verdict, advice } = judge(launches, { ratio: 1.4, steady: false })
  assert.equal(verdict, 'failed')
  assert.equal(advice, 'Give it more time, with --warmup 2s.')
  assert.equal(judge([createLaunch({ disturbed: true })], { ratio: 1.4, steady: true }).verdict, 'failed')
})

test('nothing is said of later slices where nobody tested them', () => {
  assert.equal(judge([createLaunch({})], null).finding, '1000 ms were discarded before measuring')
})

test('without a measured slice there is nothing to judge', () => {
  assert.equal(judge([createLaunch()]).verdict, 'unknown')
})
