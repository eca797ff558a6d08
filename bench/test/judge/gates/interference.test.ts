import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isTaken, judgeInterference, keepQuiet } from '../../../src/judge/gates.ts'
import { createLaunch, QUIET, SILENT } from '../../fixtures/evidence.ts'

describe('a stretch of load', () => {
  test('is taken if any of the four parts passes 20 %', () => {
    assert.equal(isTaken(QUIET), false)
    for (const part of ['serverWait', 'generatorWait', 'serverForeign', 'generatorForeign'] as const) {
      assert.equal(isTaken({ ...QUIET, [part]: 0.2 }), false, part)
      assert.equal(isTaken({ ...QUIET, [part]: 0.201 }), true, part)
      assert.equal(isTaken({ ...SILENT, [part]: 0.201 }), true, `${part} alone`)
    }
  })

  test('is not if the system tells nothing', () => {
    assert.equal(isTaken(SILENT), false)
  })

  test('counts if others did not take it, or if less than half would remain', () => {
    const keep = (...quiet: boolean[]) => keepQuiet(quiet, (one) => one)
    assert.deepEqual(keep(true, true, false), { kept: [true, true], crowded: false })
    assert.deepEqual(keep(true, false), { kept: [true], crowded: false })
    assert.deepEqual(keep(true, false, false), { kept: [true, false, false], crowded: true })
    assert.deepEqual(keep(), { kept: [], crowded: false })
  })
})

describe('what others visibly took', () => {
  const quiet = createLaunch({}, {}, {})
  const loud = { disturbance: { ...QUIET, serverForeign: 0.3 }, disturbed: true }
  const lost = createLaunch(loud, loud, loud)
  const judge = (launches: ReturnType<typeof createLaunch>[], crowded = 0) =>
    judgeInterference({ launches, crowded })

  test('is said, and voids no cell', () => {
    assert.equal(judge([quiet, quiet]).finding, 'others took at most 2.0 % of any slice')
    assert.equal(judge([createLaunch(loud, {})]).finding, 'others disturbed 1 of 2 slices')
    const { verdict, finding } = judge([quiet, lost, lost], 2)
    assert.equal(finding, 'others disturbed 6 of 9 slices; in 2 of 3 heats all slices count')
    assert.equal(verdict, 'passed')
  })

  test('is not known where the system tells nothing, and what happened in the warm-up does not matter', () => {
    assert.equal(judge([createLaunch({ disturbance: SILENT })]).verdict, 'unknown')
    assert.equal(judge([createLaunch()]).verdict, 'unknown')
    assert.equal(judge([createLaunch({ disturbance: { ...SILENT, serverWait: 0 } })]).verdict, 'passed')
  })
})
