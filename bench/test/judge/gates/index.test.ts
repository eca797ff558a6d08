import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, isVoided, judgeCell } from '../../../src/judge/gates.ts'
import {
  countedOf,
  createEvidence,
  createLaunch,
  createSpec,
  QUIET,
  SILENT,
} from '../../fixtures/evidence.ts'

const broken = createLaunch({ errors: { reset: 1 } }, { errors: { body: 1 } })
const idle = createLaunch({ cpuSeconds: { app: 0.1, proxy: 0, generator: 0.2 } })
const loud = createLaunch({ disturbance: { ...QUIET, serverWait: 0.5 }, disturbed: true })

test('a good cell passes, each gate once', () => {
  const gates = judgeCell(createEvidence())
  assert.equal(isVoided(gates), false)
  assert.equal(new Set(gates.map(({ gate }) => gate)).size, gates.length)
  assert.deepEqual(new Set(gates.map(({ advice }) => advice)), new Set([null]))
})

for (const [gates, more] of [
  [['conformance'], { conformance: { checked: 48, differences: ['x'] } }],
  [['errors', 'responses'], { launches: [broken] }],
  [['errors'], { failures: ['the app ended with exit code 1'] }],
  [['server-bound'], { launches: [idle] }],
  [['warmup'], { cold: { ratio: 1.4, steady: false } }],
  [
    ['littles-law'],
    { driver: { name: 'wrk', version: '', ceiling: null }, cell: createSpec({ connections: 128 }) },
  ],
] satisfies [string[], Partial<Evidence>][]) {
  test(`what is wrong fails its own gate: ${gates.join()}`, () => {
    const results = judgeCell(createEvidence(more))
    const failed = results.filter(({ verdict }) => verdict === 'failed')
    assert.deepEqual(new Set(failed.map(({ gate }) => gate)), new Set(gates))
    assert.equal(isVoided(results), true)
    for (const { finding, advice } of failed) {
      assert.match(finding, /[^.]$/)
      assert.match(advice ?? '', /^[A-Zw].*\.$/)
    }
  })
}

test('where the system tells nothing (macOS), the number counts, and what is not known is said', () => {
  const slice = { cpuSeconds: { app: null, proxy: null, generator: null }, disturbance: SILENT }
  const results = judgeCell(createEvidence({ cores: null, launches: [createLaunch(slice, slice)] }))
  assert.equal(isVoided(results), false)
  const unknown = results.filter(({ verdict }) => verdict === 'unknown').map(({ gate }) => gate)
  assert.deepEqual(unknown, ['server-bound', 'interference'])
})

test('a neighbour voids nothing', () => {
  const gates = judgeCell(createEvidence({ launches: [loud], counted: countedOf([loud]), crowded: 1 }))
  assert.deepEqual(
    gates.filter(({ verdict }) => verdict === 'failed'),
    [],
  )
})
