import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyVoid } from '../src/heat.ts'
import type { CellResult } from '../src/results.ts'
import { describeVoided, summarise } from '../src/summary.ts'
import { createCell, createRound, fullCell, noErrors } from './fixture.ts'

function summariseOne(...measured: Parameters<typeof summarise>[0]): CellResult {
  const [first] = summarise(measured)
  assert.ok(first)
  return first
}

test('the rate is the geometric mean of the rounds, with an interval', () => {
  const cell = summariseOne(createCell('koa/hello', 'direct', [100, 400]))
  assert.equal(Math.round(cell.rate ?? 0), 200)
  assert.ok(cell.rateInterval && cell.rateInterval[0] < 200 && cell.rateInterval[1] > 200)
  assert.deepEqual([cell.voided, cell.voidedBecause, cell.workload], [false, null, 'GET /json'])
})

test('one round gives a rate without an interval', () => {
  const cell = summariseOne(createCell('koa/hello', 'direct', [100]))
  assert.deepEqual([Math.round(cell.rate ?? 0), cell.rateInterval], [100, null])
})

test('a void cell has no number but keeps its rounds and errors', () => {
  const voided = createCell('koa/hello', 'direct', [100, 400])
  voided.errors.status = 2
  voided.errors.reset = 1
  voided.voidedBecause = 'a reason'
  const cell = summariseOne(voided, createCell('node/hello', 'direct', [100, 100]))
  assert.deepEqual(
    [cell.rate, cell.rateInterval, cell.ratioToNode, cell.cpuPerRequest, cell.errors, cell.rounds.length],
    [null, null, null, null, 3, 2],
  )
  assert.deepEqual([cell.voided, cell.voidedBecause], [true, 'a reason'])
})

test('a cell that was never measured is void', () => {
  const cell = summariseOne(createCell('koa/hello', 'direct'))
  assert.deepEqual([cell.voided, cell.voidedBecause, cell.rate], [true, 'not measured', null])
})

test('the ratio is to node of the same role and topology, by round', () => {
  const koa = createCell('koa/hello', 'nginx', [80, 40])
  const others = [
    createCell('node/hello', 'direct', [1000, 1000]),
    createCell('node/ssr', 'nginx', [1, 1]),
    createCell('node/hello', 'nginx', [100, 50]),
  ]
  const { ratioToNode } = summariseOne(koa, ...others)
  for (const number of [ratioToNode?.value, ratioToNode?.low, ratioToNode?.high])
    assert.equal(number?.toFixed(6), '0.800000')
})

test('rounds that one of the two lacks do not count in the ratio', () => {
  const koa = createCell('koa/hello', 'direct', [80, 1, 80])
  const node = createCell('node/hello', 'direct', [100, undefined, 100, 7])
  assert.equal(summariseOne(koa, node).ratioToNode?.value.toFixed(6), '0.800000')
})

test('without a sound baseline there is no ratio', () => {
  const koa = createCell('koa/hello', 'direct', [80])
  assert.equal(summariseOne(koa).ratioToNode, null)
  assert.equal(summariseOne(koa, createCell('node/hello', 'direct')).ratioToNode, null)
  const other = createCell('node/hello', 'direct', [undefined, 100])
  assert.equal(summariseOne(koa, other).ratioToNode, null)
  const voided = createCell('node/hello', 'direct', [100])
  voided.voidedBecause = 'a reason'
  assert.equal(summariseOne(koa, voided).ratioToNode, null)
})

test('CPU per request is the mean of the rounds, memory the highest, unknown stays unknown', () => {
  const cell = createCell('koa/hello', 'nginx')
  cell.rounds = [
    createRound(1, 200, {
      requests: 100,
      cpuSeconds: { app: 1, proxy: 2, generator: 3 },
      peakMemory: { app: 5, proxy: null },
    }),
    createRound(2, 200, {
      requests: 100,
      cpuSeconds: { app: 3, proxy: null, generator: 3 },
      peakMemory: { app: 4, proxy: null },
    }),
  ]
  const { cpuPerRequest, peakMemory } = summariseOne(cell)
  assert.deepEqual(cpuPerRequest, { app: 0.02, proxy: null, generator: 0.03 })
  assert.deepEqual(peakMemory, { app: 5, proxy: null })
})

test('a load voids its cell by any error, by silence, and if nothing was checked', () => {
  const errors = noErrors()
  assert.equal(whyVoid({ requests: 100, errors, checked: 1 }, 2), undefined)
  assert.equal(whyVoid({ requests: 100, errors, checked: 0 }, 2), 'no answer was checked in round 2')
  assert.equal(whyVoid({ requests: 0, errors, checked: 0 }, 2), 'no request was answered in round 2')
  assert.equal(
    whyVoid({ requests: 97, errors: { ...errors, status: 1, body: 2 }, checked: 5 }, 3),
    '3 of 100 requests failed in round 3 (1 status, 2 body)',
  )
})

test('void cells are described one sentence per reason, skipped ones not at all', () => {
  const cells = [
    fullCell({ app: 'a/hello', topology: 'direct', voidedBecause: 'it failed' }),
    fullCell({ app: 'b/hello', voidedBecause: 'it was slow' }),
    fullCell({ app: 'a/hello', voidedBecause: 'it failed' }),
    fullCell({ app: 'c/hello', skipped: true, voidedBecause: 'there is no NGINX' }),
    fullCell({ app: 'd/hello', voided: false, voidedBecause: null }),
  ]
  assert.deepEqual(describeVoided(cells), [
    'a/hello direct, a/hello nginx are void: it failed.',
    'b/hello nginx is void: it was slow.',
  ])
})
