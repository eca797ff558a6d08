import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDisturbed, judgeInterference } from '../../../src/judge/gates/interference.ts'
import { createLaunch, QUIET, SILENT } from '../../fixtures/evidence.ts'

describe('a slice', () => {
  test('is disturbed if any of the four parts passes 5 %', () => {
    assert.equal(isDisturbed(QUIET), false)
    for (const part of ['serverWait', 'generatorWait', 'serverForeign', 'generatorForeign'] as const) {
      assert.equal(isDisturbed({ ...QUIET, [part]: 0.05 }), false, part)
      assert.equal(isDisturbed({ ...QUIET, [part]: 0.051 }), true, part)
      assert.equal(isDisturbed({ ...SILENT, [part]: 0.051 }), true, `${part} alone`)
    }
  })

  test('is not if the system tells nothing', () => {
    assert.equal(isDisturbed(SILENT), false)
  })
})

describe('the machine was ours', () => {
  const quiet = createLaunch({}, {}, {})
  const loud = { disturbance: { ...QUIET, serverForeign: 0.3 }, disturbed: true }
  const lost = createLaunch(loud, loud, { ...loud, repeat: true })
  const verdict = (...launches: ReturnType<typeof createLaunch>[]) => judgeInterference({ launches }).verdict

  test('if nobody disturbed a slice', () => {
    const { finding } = judgeInterference({ launches: [quiet, quiet] })
    assert.equal(finding, 'others took at most 2.0 % of any slice')
  })

  test('if two launches and half of all are left', () => {
    assert.equal(verdict(quiet, quiet, lost, lost), 'passed')
    assert.equal(verdict(quiet, quiet, lost, lost, lost), 'failed')
    assert.equal(verdict(quiet, lost), 'failed')
    assert.equal(verdict(quiet, lost, lost), 'failed')
    assert.equal(verdict(lost), 'failed')
    assert.equal(verdict(quiet), 'passed')
  })

  test('a launch is left with one slice that nobody disturbed, such as a repeated one', () => {
    const mended = createLaunch(loud, loud, loud, { repeat: true })
    assert.equal(verdict(mended, mended), 'passed')
  })

  test('how much was lost is said', () => {
    const { finding, advice } = judgeInterference({ launches: [quiet, lost, lost, lost] })
    assert.equal(finding, 'others disturbed 9 of 12 slices, which leaves 1 of 4 heats')
    assert.match(advice ?? '', /^Close other programs/)
    assert.equal(
      judgeInterference({ launches: [createLaunch(loud, {})] }).finding,
      'others disturbed 1 of 2 slices',
    )
  })

  test('is not known where the system tells nothing, and what happened in the warm-up does not matter', () => {
    const silent = createLaunch({ disturbance: SILENT })
    assert.equal(verdict(silent), 'unknown')
    assert.equal(verdict(createLaunch()), 'unknown')
    assert.equal(verdict(createLaunch({ disturbance: { ...SILENT, serverWait: 0 } })), 'passed')
  })
})
