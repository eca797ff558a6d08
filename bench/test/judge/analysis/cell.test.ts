import assert from 'node:assert/strict'
import { test } from 'node:test'
import { near } from '../../../../packages/stats/test/near.ts'
import type { Measured } from '../../../src/judge/launches.ts'
import { analyseAll, cellOf, heatOf, measuredOf, sliceOf } from '../../fixtures/laboratory.ts'

const DIRECT = cellOf('node/hello')
const NGINX = cellOf('node/hello', 'nginx')
const cellsOf = (measured: Measured) => analyseAll(measured).cells

test('peak memory is the highest of the launches that served the cell', () => {
  const launches = (app: number, nginx: number | null) => [
    { app: 'node/hello', peakMemory: app },
    { app: 'nginx', peakMemory: nginx },
  ]
  const slices = [DIRECT, NGINX].map(({ id }) => sliceOf(id, 100))
  const heats = [
    heatOf(1, slices, { launches: launches(100, 20) }),
    heatOf(2, slices, { launches: launches(120, null) }),
    heatOf(1, [], { race: 'ssr', launches: launches(999, 999) }),
  ]
  const [direct, nginx] = cellsOf(measuredOf([DIRECT, NGINX], heats)).map(({ peakMemory }) => peakMemory)
  assert.deepEqual(direct, { app: 120, proxy: null })
  assert.deepEqual(nginx, { app: 120, proxy: 20 })
})

test('the cost of server and proxy is their sum, and unknown if one is', () => {
  const cpuSeconds = { app: 0.05, proxy: 0.14, generator: 0.2 }
  const known = measuredOf([NGINX], [heatOf(1, [sliceOf(NGINX.id, 100, { cpuSeconds })])])
  const [figures] = cellsOf(known)
  near(figures?.figures.cpu?.value, 0.0019)
  near(figures?.cpu.proxy, 0.0014)
  near(figures?.coreUse, 0.95)
  const unknown = heatOf(1, [sliceOf(NGINX.id, 100, { cpuSeconds: { ...cpuSeconds, proxy: null } })])
  const [other] = cellsOf(measuredOf([NGINX], [unknown]))
  assert.deepEqual([other?.figures.cpu, other?.coreUse, other?.cpu.proxy], [undefined, null, null])
  near(other?.cpu.app, 0.0005)
})

test('a mean has an interval from two launches on', () => {
  const heat = (number: number, count: number) => heatOf(number, [sliceOf(DIRECT.id, count)])
  const [figures] = cellsOf(measuredOf([DIRECT], [heat(1, 100), heat(2, 110)]))
  near(figures?.figures.rate?.value, Math.sqrt(100 * 110) / 0.2)
  // Student's t with one degree of freedom on two logarithms: 12.7062 times half their distance.
  near(
    figures?.figures.rate?.high,
    (Math.sqrt(100 * 110) / 0.2) * Math.exp((12.7062 * Math.log(1.1)) / 2),
    1e-4,
  )
})
