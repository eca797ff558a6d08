import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeWarmup } from '../../../src/judge/gates/warmup.ts'
import type { Slice } from '../../../src/model/result.ts'
import { createLaunch, createSlice, createSpec } from '../../fixtures/evidence.ts'

const cell = createSpec()

/** CPU seconds of the app, for 10,000 requests. */
const costing = (app: number | null, more: Partial<Slice> = {}): Partial<Slice> => ({
  cpuSeconds: { app, proxy: 0, generator: 0.2 },
  ...more,
})

test('the length of the warm-up is the cell’s own, in every launch that counts', () => {
  assert.equal(judgeWarmup({ cell, launches: [createLaunch({}, {})] }).verdict, 'passed')
  const short = [createSlice({ phase: 'warmup', seconds: 0.94 }), createSlice(), createSlice()]
  const { verdict, finding } = judgeWarmup({ cell, launches: [createLaunch({}, {}), short] })
  assert.deepEqual([verdict, finding], ['failed', 'only 940 of 1000 ms were discarded before measuring'])
  const lost = short.map((slice) => ({ ...slice, disturbed: true }))
  assert.equal(judgeWarmup({ cell, launches: [createLaunch({}, {}), lost] }).verdict, 'passed')
})

test('a slice of warm-up may end a little early', () => {
  const early = [createSlice({ phase: 'warmup', seconds: 0.96 }), createSlice()]
  assert.equal(judgeWarmup({ cell, launches: [early] }).verdict, 'passed')
})

test('the first slices may cost 15 % more than later ones, not 16 %', () => {
  const launch = (first: number) => createLaunch(costing(first), costing(0.09), costing(0.11))
  assert.equal(judgeWarmup({ cell, launches: [launch(0.1149)] }).verdict, 'passed')
  const { verdict, finding } = judgeWarmup({ cell, launches: [launch(0.116)] })
  assert.equal(verdict, 'failed')
  assert.equal(
    finding,
    '1000 ms were discarded before measuring; the first slices then cost 16 % more than later ones',
  )
})

test('of several launches the geometric mean counts: one bad slice is not a cold server', () => {
  const cold = createLaunch(costing(0.13), costing(0.1))
  const warm = createLaunch(costing(0.1), costing(0.1))
  assert.equal(judgeWarmup({ cell, launches: [cold, warm] }).verdict, 'passed')
  assert.equal(judgeWarmup({ cell, launches: [cold, cold] }).verdict, 'failed')
})

test('slices that others disturbed are left out', () => {
  const launch = createLaunch(costing(0.3, { disturbed: true }), costing(0.1), costing(0.1))
  assert.equal(judgeWarmup({ cell, launches: [launch] }).verdict, 'passed')
})

test('where CPU is not known, time per request is compared', () => {
  const slow = costing(null, { seconds: 0.3 })
  assert.equal(judgeWarmup({ cell, launches: [createLaunch(slow, costing(null))] }).verdict, 'failed')
})

test('with one slice per launch only the length can be judged', () => {
  const { verdict, finding } = judgeWarmup({ cell, launches: [createLaunch({})] })
  assert.equal(verdict, 'passed')
  assert.match(finding, /too few slices/)
})

test('without a slice that counts there is nothing to judge', () => {
  assert.equal(judgeWarmup({ cell, launches: [createLaunch()] }).verdict, 'unknown')
})
