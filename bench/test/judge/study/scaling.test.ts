import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { describeContention, scalingOf } from '../../../src/judge/study/scaling.ts'
import { createStudyResult } from '../../../src/plan/study.ts'
import { PAPER } from '../../fixtures/study-laboratory.ts'

const COUNTS = [1, 2, 4, 8]
const SYSTEMS = Object.fromEntries(
  COUNTS.map((count) => [
    `w${count}`,
    { title: `${count}`, app: { package: 'apps/node', role: 'hello' }, cores: count },
  ]),
)
const STUDY = {
  ...PAPER,
  systems: SYSTEMS,
  races: { race: { systems: Object.keys(SYSTEMS), workload: { path: '/', expect: {} }, connections: 1 } },
}
const CURVE = {
  title: 'curve',
  race: 'race',
  workers: Object.fromEntries(COUNTS.map((count) => [`w${count}`, count])),
}

/** Amdahl's law with a tenth that is serial, in three heats that are not equally fast. */
function contextOf(given: number) {
  const { cells } = createStudyResult(STUDY, { profile: 'quick', asPublished: false, heats: 3, seed: 1 }, '')
  for (const cell of cells) cell.cores.given = Math.min(given, cell.cores.wanted)
  const rate = (system: string) => {
    const count = Number(system.slice(1))
    return (1000 * count) / (1 + 0.1 * (count - 1))
  }
  return {
    cells,
    ratio: (_race: string, _metric: string, over: string, under: string) => {
      const value = rate(over) / rate(under)
      return { value, low: value, high: value }
    },
    rates: (_race: string, system: string) => [1, 0.5, 2].map((heat) => heat * rate(system)),
  }
}

test('with a core for each worker, the fit finds the serial part', () => {
  const { points, fit, withheld } = scalingOf(CURVE, contextOf(8))
  deepEqual(
    points.map(({ workers, ratio }) => [workers, ratio.value.toFixed(2)]),
    [
      [1, '1.00'],
      [2, '1.82'],
      [4, '3.08'],
      [8, '4.71'],
    ],
  )
  equal(withheld, null)
  ok(fit !== null && Math.abs(fit.contention.value - 0.1) < 1e-6 && Math.abs(fit.coherency.value) < 1e-6)
  match(describeContention(fit), /contention is 10 % \(10 %–10 %\)/)
})

test('workers without a core of their own are shown, but not fitted', () => {
  const { points, fit, withheld } = scalingOf(CURVE, contextOf(2))
  equal(points.length, 4)
  equal(fit, null)
  match(withheld ?? '', /at least 3 numbers of workers, each with a core of its own; there are 2/)
})
