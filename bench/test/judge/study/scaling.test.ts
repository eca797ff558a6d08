import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createStudyResult } from '../../../src/experiment/result.ts'
import { scalingOf } from '../../../src/judge/study/analysis.ts'
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

/** Amdahl's law with a tenth that is serial. */
function contextOf(given: number) {
  const { cells } = createStudyResult(STUDY, { profile: 'quick', heats: 3, seed: 1 }, '')
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
  }
}

test('rates are against one worker, with the cores that each number had', () => {
  const { points } = scalingOf(CURVE, contextOf(4))
  deepEqual(
    points.map(({ workers, ratio, cores }) => [workers, ratio.value.toFixed(2), cores]),
    [
      [1, '1.00', 1],
      [2, '1.82', 2],
      [4, '3.08', 4],
      [8, '4.71', 4],
    ],
  )
})
