import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { createStudyResult } from '../../src/experiment/result.ts'
import { runHeats } from '../../src/measure/heats.ts'
import type { ProbeRace } from '../../src/result/experiment.ts'
import type { Heat } from '../../src/result/heat.ts'
import type { Warning } from '../../src/result/result.ts'

let now = 0
mock.method(performance, 'now', () => now)
beforeEach(() => {
  now = 0
})

/** A race whose heats move on the clock. @param seconds of each of them */
function raceOf(expectedMs: number, seconds: readonly number[], maxTimeMs: number | null) {
  const race: ProbeRace = {
    systems: ['probed'],
    expectedMs,
    probe: async (_system, { heat }) => {
      now += 1000 * (seconds[heat - 1] ?? 0)
      return { rate: 1 }
    },
  }
  const experiment = { name: '', systems: { probed: { title: 'probed' } }, races: { race }, claims: [] }
  const options = { profile: 'full', heats: seconds.length, seed: 1 } as const
  const result = createStudyResult(experiment, options, '')
  result.settings.maxTimeMs = maxTimeMs
  const said: string[] = []
  const warnings: Warning[] = []
  const run = {
    ...{ experiment, result },
    progress: { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) },
    endsAt: maxTimeMs ?? Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    warn: (warning: Warning) => warnings.push(warning),
    store() {},
  } as unknown as Parameters<typeof runHeats>[0]
  return { run, said, warnings, heats: () => result.heats.map(({ heat }: Heat) => heat) }
}

test('a run without a limit has all its heats, and says how long they take', async () => {
  const { run, said, heats, warnings } = raceOf(20_000, [20, 90, 20], null)
  await runHeats(run)
  assert.deepEqual(said, ['3 heats, about 1:00 (minutes:seconds).'])
  assert.deepEqual([heats(), warnings], [[1, 2, 3], []])
})

test('the next heat begins if one that takes as long as the last one fits; the first two always do', async () => {
  const fitting = raceOf(10_000, [10, 11, 11, 30, 5], 64_000)
  await runHeats(fitting.run)
  assert.deepEqual(fitting.heats(), [1, 2, 3, 4])
  const [dropped] = fitting.warnings
  assert.equal(
    dropped?.text,
    'Time was up after 1.07 minutes: heats from number 5 on were dropped, so intervals are wider. --max-time 100s would be enough.',
  )
  assert.equal(fitting.run.result.enoughMs, 100_000)

  const slow = raceOf(10_000, [60, 60, 60], 70_000)
  await runHeats(slow.run)
  assert.deepEqual([slow.heats(), slow.warnings.length], [[1, 2], 1])
})

test('a heat that was only hoped for is dropped without a word', async () => {
  const { run, heats, warnings } = raceOf(10_000, [10, 10, 10, 10], 32_000)
  await runHeats(run, { asked: 3 })
  assert.deepEqual([heats(), warnings], [[1, 2, 3], []])
})
