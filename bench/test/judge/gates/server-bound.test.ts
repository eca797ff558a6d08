import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CpuSeconds } from '@startgrid/machine/accounts/sample.ts'
import { judgeServerBound } from '../../../src/judge/gates.ts'
import type { Slice } from '../../../src/model/heat.ts'
import { createEvidence, createLaunch, createSpec, QUIET } from '../../fixtures/evidence.ts'

const nobody = { ...QUIET, serverForeign: 0, serverWait: 0 }
const proxied = createSpec({ topology: 'nginx' })

/** Of 200 ms. */
function used(app: number | null, proxy: number | null, more: Partial<Slice> = {}): Partial<Slice> {
  const cpuSeconds: CpuSeconds = { app, proxy, generator: 0.2 }
  return { cpuSeconds, disturbance: nobody, ...more }
}

const judge = (...slices: Partial<Slice>[]) =>
  judgeServerBound(createEvidence({ cell: proxied, launches: [createLaunch(...slices)] }))

test('server and proxy together must use 95 % of their core', () => {
  assert.equal(judge(used(0.1, 0.0901)).verdict, 'passed')
  const { verdict, finding } = judge(used(0.1, 0.0899))
  assert.deepEqual([verdict, finding], ['failed', 'server and proxy used 95 % of their core'])
})

test('in a direct cell the proxy has no part', () => {
  const launches = [createLaunch(used(0.142, 0.05))]
  const { verdict, finding } = judgeServerBound(createEvidence({ launches }))
  assert.deepEqual([verdict, finding], ['failed', 'the server used 71 % of its core'])
})

test('warm-up and slices that others disturbed do not count', () => {
  const { finding } = judge(
    used(0.18, 0),
    used(0.2, 0, { disturbed: true }),
    used(0.2, 0, { phase: 'warmup' }),
  )
  assert.equal(finding, 'server and proxy used 90 % of their core')
})

test('a neighbour that stops the generator at times does not void a cell; a server that waits in every slice is found', () => {
  const slices = (...uses: number[]) => judge(...uses.map((use) => used(0.2 * use, 0)))
  assert.equal(slices(0.5, 0.99, 0.98, 0.6, 1, 0.97, 0.98, 0.52).verdict, 'passed')
  const { verdict, finding } = slices(0.9, 0.91, 0.92, 0.9, 0.93, 0.92, 0.91, 0.9)
  assert.deepEqual([verdict, finding], ['failed', 'server and proxy used 92 % of their core'])
})

test('what others took of the core was not there to be used', () => {
  const slice = used(0.1, 0.086)
  assert.equal(judge(slice).verdict, 'failed')
  assert.equal(judge({ ...slice, disturbance: { ...nobody, serverForeign: 0.04 } }).verdict, 'passed')
  assert.equal(judge({ ...slice, disturbance: { ...nobody, serverWait: 0.04 } }).verdict, 'passed')
  assert.equal(judge({ ...slice, disturbance: { ...nobody, generatorWait: 0.04 } }).verdict, 'passed')
})

test('where others took every slice nothing can be told', () => {
  const launches = [createLaunch(used(0.02, 0, { disturbed: true }))]
  const { verdict } = judgeServerBound(
    createEvidence({ launches, counted: launches.map((one) => one.slice(4)) }),
  )
  assert.equal(verdict, 'unknown')
})

test('where the host took much of the CPU, an idle server says nothing, and a busy one is busy', () => {
  const on = (stolen: number, ...slices: Partial<Slice>[]) =>
    judgeServerBound(createEvidence({ cell: proxied, launches: [createLaunch(...slices)], stolen }))
  const { verdict, finding } = on(0.23, used(0.14, 0))
  assert.equal(verdict, 'unknown')
  assert.equal(
    finding,
    "server and proxy used 70 % of their core, but the host took 23 % of this machine's CPU",
  )
  assert.equal(on(0.23, used(0.2, 0)).verdict, 'passed')
  assert.equal(on(0.02, used(0.14, 0)).verdict, 'failed')
})

test('advice depends on what limits the rate', () => {
  const slow = createLaunch(used(0.1, 0))
  const advice = (ceiling: number | null) =>
    judgeServerBound(
      createEvidence({ launches: [slow], driver: { name: 'startgrid', version: '', ceiling } }),
    ).advice
  assert.match(advice(150_000) ?? '', /more --connections/)
  assert.match(advice(null) ?? '', /more --connections/)
  assert.match(advice(55_000) ?? '', /generator cannot offer more/)
})

test('cells that share no core, or of which nothing is known, are not judged', () => {
  const verdict = (more: Parameters<typeof createEvidence>[0]) =>
    judgeServerBound(createEvidence(more)).verdict
  const idle = [createLaunch(used(0, 0))]
  assert.equal(verdict({ launches: idle, cell: createSpec({ serverBound: false }) }), 'not meant')
  assert.equal(verdict({ launches: idle, cores: null }), 'unknown')
  assert.equal(verdict({ launches: [createLaunch(used(null, 0))] }), 'unknown')
  assert.equal(verdict({ launches: [createLaunch(used(0.2, null))], cell: proxied }), 'unknown')
  assert.equal(verdict({ launches: [] }), 'unknown')
})
