import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HeatPlan, runHeats } from '../../src/measure/heats.ts'
import type { CellSpec } from '../../src/model/result.ts'
import { smallRace } from '../fixtures/small-race.ts'
import { heatOf } from '../judge/analysis/laboratory.ts'

test('the forecast of a run counts a first launch that takes longer than the others once', async () => {
  const result = { ...smallRace(), heats: [], conformance: [] }
  result.settings.maxTimeMs = null
  const race = result.cells[0]?.race ?? ''
  const said: string[] = []
  const plan: HeatPlan<CellSpec> = {
    title: '',
    races: [race],
    planned: 3,
    most: 3,
    expectedMs: ({ heat }) => (heat === 1 ? 60_000 : 1000),
    longestMs: Number.POSITIVE_INFINITY,
    run: async ({ planned }) => heatOf(planned.heat, [], { race }),
    isEnough: () => false,
    nameOf: ({ id }) => id,
  }
  const progress = { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) }
  const run = { result, progress, countsFrom: 0, signal: new AbortController().signal, warn() {}, store() {} }
  await runHeats(run, plan)
  assert.deepEqual(said, ['3 heats, about 1:02 (minutes:seconds).'])
  assert.equal(result.heats.length, 3)
})
