import assert from 'node:assert/strict'
import { test } from 'node:test'
import { near } from '../../../../packages/stats/test/near.ts'
import { analyse } from '../../../src/judge/analysis.ts'
import type { WarmupProfile } from '../../../src/model/figures.ts'
import type { CellSpec, Slice } from '../../../src/model/result.ts'
import { cellOf, heatOf, measuredOf, sliceOf } from './laboratory.ts'

const DIRECT = { ...cellOf('node/hello'), warmupMs: 400 }
const NGINX = cellOf('node/hello', 'nginx')
const SOCKET = cellOf('node/hello', 'nginx-socket')

function profileOf(cells: CellSpec[], heats: Slice[][]): WarmupProfile | undefined {
  const measured = measuredOf(
    cells,
    heats.map((slices, index) => heatOf(index + 1, slices)),
  )
  return analyse(measured, { judge: () => [] }).cells[0]?.warmup
}

const warm = { phase: 'warmup' } as const

test('points are at the load that the launch had before, whichever cell it was on', () => {
  const slices = [
    sliceOf(DIRECT.id, 50, warm),
    sliceOf(NGINX.id, 50, warm),
    sliceOf(SOCKET.id, 50, warm),
    sliceOf(DIRECT.id, 80, warm),
    sliceOf(DIRECT.id, 100),
  ]
  const profile = profileOf([DIRECT, NGINX, SOCKET], [slices])
  assert.deepEqual(
    profile?.points.map(({ at, discarded }) => [at, discarded]),
    [
      [0, true],
      [400, true],
      [600, false],
    ],
  )
  assert.equal(profile?.lengthMs, 400)
})

test('points are ratios to what each launch settled at, pooled over launches', () => {
  const launch = (first: number, final: number) => [
    sliceOf(DIRECT.id, first, warm),
    sliceOf(DIRECT.id, final),
  ]
  const profile = profileOf([DIRECT], [launch(50, 100), launch(400, 200)])
  near(profile?.points[0]?.rate, 1)
  near(profile?.points[0]?.cpu, 1)
  const single = profileOf([DIRECT], [launch(50, 100)])
  near(single?.points[0]?.rate, 0.5)
  near(single?.points[0]?.cpu, 2)
  near(single?.points[1]?.rate, 1)
})

test('disturbed slices leave a gap, not a point', () => {
  const slices = [
    sliceOf(DIRECT.id, 50, { ...warm, disturbed: true }),
    sliceOf(DIRECT.id, 100),
    sliceOf(DIRECT.id, 10, { disturbed: true }),
  ]
  assert.deepEqual(
    profileOf([DIRECT], [slices])?.points.map(({ at }) => at),
    [200],
  )
})

test('a trend that is there is found, and its size is over what was measured', () => {
  // Each launch: three slices, each a tenth dearer than the one before, and a little noise.
  const launch = (level: number, noise: number) =>
    [1, 1.1, 1.21].map((cost, index) => sliceOf(DIRECT.id, (level / cost) * (1 + (index === 1 ? noise : 0))))
  const profile = profileOf(
    [DIRECT],
    [launch(1000, 0.002), launch(2000, -0.002), launch(1500, 0.001), launch(900, 0)],
  )
  near(profile?.trend, 0.21, 1e-3)
})

test('finds nothing where a trend may be chance, or slices are too few', () => {
  const launch = (...requests: number[]) => requests.map((count) => sliceOf(DIRECT.id, count))
  assert.equal(profileOf([DIRECT], [launch(1000, 1030, 990), launch(1000, 970, 1020)])?.trend, null)
  assert.equal(profileOf([DIRECT], [launch(1000, 900)])?.trend, null)
})
