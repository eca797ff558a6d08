import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HeatPlan, runHeats } from '../../src/measure/heats.ts'
import type { Heat } from '../../src/model/heat.ts'
import type { Warning } from '../../src/model/result.ts'
import { smallRace } from '../fixtures/small-race.ts'
import { heatOf } from '../judge/analysis/laboratory.ts'

/** A race of three heats, and a clock that the heats move on. @param seconds of each of them */
function raceOf(expectedMs: number, seconds: readonly number[], maxTimeMs: number | null) {
  const result = { ...smallRace(), heats: [], conformance: [] }
  result.settings = { ...result.settings, maxTimeMs }
  const race = result.cells[0]?.race ?? ''
  const said: string[] = []
  const warnings: Warning[] = []
  const progress = { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) }
  const run = {
    result,
    progress,
    endsAt: performance.now() + (maxTimeMs ?? Number.POSITIVE_INFINITY),
    signal: new AbortController().signal,
    warn: (warning: Warning) => warnings.push(warning),
    store() {},
  }
  const plan: HeatPlan = {
    title: '',
    races: [race],
    planned: seconds.length,
    most: seconds.length,
    expectedMs: () => expectedMs,
    run: async ({ planned: { heat } }) => {
      const lasted = seconds[heat - 1] ?? 0
      run.endsAt -= 1000 * lasted
      return { ...heatOf(heat, [], { race }), seconds: lasted }
    },
    isEnough: () => false,
    nameOf: ({ id }) => id,
  }
  return { run, plan, said, warnings, heats: () => result.heats.map(({ heat }: Heat) => heat) }
}

test('a run without a limit has all its heats, and says how long they take', async () => {
  const { run, plan, said, heats, warnings } = raceOf(20_000, [20, 90, 20], null)
  await runHeats(run, plan)
  assert.deepEqual(said, ['3 heats, about 1:00 (minutes:seconds).'])
  assert.deepEqual([heats(), warnings], [[1, 2, 3], []])
})

test('the next heat begins if one that takes as long as the last one fits; the first two always do', async () => {
  const fitting = raceOf(10_000, [10, 11, 11, 30, 5], 64_000)
  await runHeats(fitting.run, fitting.plan)
  assert.deepEqual(fitting.heats(), [1, 2, 3, 4])
  const [dropped] = fitting.warnings
  assert.equal(
    dropped?.text,
    'Time was up after 1.07 minutes: heats from number 5 on were dropped, so intervals are wider. --max-time 100s would be enough.',
  )
  assert.equal(fitting.run.result.enoughMs, 100_000)

  const slow = raceOf(10_000, [60, 60, 60], 70_000)
  await runHeats(slow.run, slow.plan)
  assert.deepEqual([slow.heats(), slow.warnings.length], [[1, 2], 1])
})

test('a heat that was only hoped for is dropped without a word', async () => {
  const { run, plan, heats, warnings } = raceOf(10_000, [10, 10, 10, 10], 32_000)
  await runHeats(run, { ...plan, asked: 3 })
  assert.deepEqual([heats(), warnings], [[1, 2, 3], []])
})
