import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyOpenLoopFailed, whyRaceFailed } from '../../src/cli/exit-code.ts'
import type { Trial } from '../../src/model/heat.ts'
import { type RaceResult, trialsOf } from '../../src/model/result.ts'
import { golden, withTrials } from '../fixtures/golden.ts'
import { contendedResult, rateResult, suspectResult } from '../fixtures/results.ts'

/** The same without the cells that failed a gate. */
function withoutVoid(result: RaceResult): RaceResult {
  if (result.analysis === null) return result
  const cells = result.analysis.cells.filter(({ voided }) => !voided)
  return { ...result, analysis: { ...result.analysis, cells } }
}

test('a cell without a number fails the command, and noise does not', () => {
  assert.deepEqual(whyRaceFailed(rateResult(), null), [
    '2 of 41 cells have no number that counts: exit code 1.',
  ])
  for (const result of [contendedResult(), suspectResult(), withoutVoid(rateResult())])
    assert.deepEqual(whyRaceFailed(result, null), [])
})

test('a twin decides nothing', () => {
  const { analysis, ...result } = withoutVoid(rateResult())
  const cells = (analysis?.cells ?? []).map((cell) =>
    cell.cell === 'node/hello#2 direct' ? { ...cell, voided: true, launches: 0 } : cell,
  )
  assert.deepEqual(whyRaceFailed({ ...result, analysis: analysis && { ...analysis, cells } }, null), [])
})

test('a cell that has no launch fails the command, with or without a failed gate', () => {
  const { analysis, ...result } = withoutVoid(rateResult())
  const [first, ...others] = analysis?.cells ?? []
  const cells = first === undefined ? [] : [{ ...first, launches: 0 }, ...others]
  assert.match(
    whyRaceFailed({ ...result, analysis: analysis && { ...analysis, cells } }, null)[0] ?? '',
    /^1 of 39 cells has no number/,
  )
})

test('--require fails where a rate ratio is less certain, and without intervals', () => {
  const result = withoutVoid(rateResult())
  assert.deepEqual(whyRaceFailed(result, 0.5), [])
  assert.match(
    whyRaceFailed(result, 0.01)[0] ?? '',
    /^The widest 95 % interval of a rate ratio is ±\d.*, and --require allows ±1\.0 %: exit code 1\.$/,
  )
  const single = { ...result, analysis: result.analysis && { ...result.analysis, races: [] } }
  assert.match(whyRaceFailed(single, 0.5)[0] ?? '', /is not known/)
})

test('open loops: a void cell fails the command, a percentile that is withheld is a result', () => {
  const result = golden('latency')
  const withheld = result.analysis?.flatMap(({ levels }) => levels.flatMap(({ percentiles }) => percentiles))
  assert.ok(withheld?.some(({ ms }) => ms === null))
  assert.deepEqual(whyOpenLoopFailed(result), [])
  for (const cell of result.analysis?.slice(0, 1) ?? []) cell.voidedBecause = 'no rate kept the bound'
  assert.match(whyOpenLoopFailed(result)[0] ?? '', /^1 of 2 cells has no number/)
})

test('open loops: what others took is noise, and an error is not', () => {
  const result = golden('latency')
  const failing = (more: Partial<Trial>, voidedBecause: string | null) =>
    whyOpenLoopFailed(
      withTrials(
        { ...result, analysis: (result.analysis ?? []).map((cell) => ({ ...cell, voidedBecause })) },
        trialsOf(result).map((trial) => ({ ...trial, ...more })),
      ),
    ).length
  assert.equal(failing({ disturbed: false }, 'no rate kept the bound'), 1)
  assert.equal(failing({ disturbed: true }, 'no rate kept the bound'), 0)
  assert.equal(failing({ disturbed: true, errors: { reset: 1 } }, null), 1)
})
