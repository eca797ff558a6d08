import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDING_MS } from '../../src/experiment/budget.ts'
import { type HeatPlan, runHeats } from '../../src/measure/heats.ts'
import type { Heat } from '../../src/model/heat.ts'
import type { Warning } from '../../src/model/warnings.ts'
import { smallRace } from '../fixtures/small-race.ts'
import { heatOf } from '../judge/analysis/laboratory.ts'

/** A race of three heats of 19 passes, and a clock that the heats move on. */
function raceOf(expectedMs: HeatPlan['expectedMs'], maxTimeMs: number | null) {
  const result = { ...smallRace(), heats: [], conformance: [] }
  result.settings = { ...result.settings, maxTimeMs, slices: 19 }
  const race = result.cells[0]?.race ?? ''
  const said: string[] = []
  const warnings: Warning[] = []
  const progress = { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) }
  const run = {
    result,
    progress,
    endsAt: performance.now() + (maxTimeMs ?? Number.POSITIVE_INFINITY) - ENDING_MS,
    signal: new AbortController().signal,
    warn: (warning: Warning) => warnings.push(warning),
    store() {},
  }
  const plan: HeatPlan = {
    title: '',
    races: [race],
    planned: 3,
    most: 3,
    expectedMs,
    longestMs: Number.POSITIVE_INFINITY,
    run: async ({ planned, expectedMs, endsAt }) => {
      run.endsAt -= Math.min(expectedMs, endsAt - performance.now())
      return heatOf(planned.heat, [], { race })
    },
    isEnough: () => false,
    nameOf: ({ id }) => id,
  }
  return { run, plan, said, warnings, heats: () => result.heats.map(({ heat }: Heat) => heat) }
}

test('the forecast of a run counts a first launch that takes longer than the others once', async () => {
  const { run, plan, said, heats } = raceOf(({ heat }) => (heat === 1 ? 60_000 : 1000), null)
  await runHeats(run, plan)
  assert.deepEqual(said, ['3 heats, about 1:02 (minutes:seconds).'])
  assert.deepEqual(heats(), [1, 2, 3])
})

test('a third heat is kept with few passes, and dropped where they do not fit', async () => {
  const expectedMs: HeatPlan['expectedMs'] = (_planned, _cells, passes) => 2000 * passes
  const slow = raceOf(expectedMs, 40_000) // half of the passes would take 57 s
  await runHeats(slow.run, slow.plan)
  assert.deepEqual([slow.heats(), slow.warnings], [[1, 2, 3], []])

  const slower = raceOf(expectedMs, 25_000) // 5 passes take 30 s
  await runHeats(slower.run, slower.plan)
  assert.deepEqual(slower.heats(), [1, 2])
  assert.deepEqual(slower.warnings, [{ kind: 'heats-dropped', from: 3, maxTimeMs: 25_000, enoughMs: 70_000 }])

  const filled = raceOf(expectedMs, 25_000)
  await runHeats(filled.run, { ...filled.plan, asked: 2 })
  assert.deepEqual([filled.heats(), filled.warnings], [[1, 2], []], 'more were hoped for than fit')
})
