import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRace, RACE_SETTINGS } from '../../src/experiment/race.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { fitsLatencies, startsWithin } from '../../src/measure/race.ts'

const paceOf = (openRate: number, startMs = 0) => ({ startMs, rates: new Map<string, number>(), openRate })

test('a race takes as many starts as fit, at least those planned; fast servers need less time for a latency', () => {
  const systems = ['before', 'after'].map((name) => ({ name }))
  const experiment = createRace({ systems, requests: [{ path: '/' }], connections: 32 })
  const plan = { profile: 'full', heats: 10, seed: 1 } as const
  const result = createStudyResult(experiment, plan, '')
  Object.assign(result.settings, RACE_SETTINGS)
  for (const cell of result.cells) cell.warmupMs = 500
  const startsIn = (seconds: number, rate: number) =>
    startsWithin(seconds * 1000, experiment, result, new Map([['GET /', paceOf(rate)]]))
  assert.equal(startsIn(20, 10_000), 10)
  const [fast, slow] = [startsIn(300, 10_000), startsIn(300, 50)]
  assert.ok(fast > 50 && slow > 30 && fast > 1.3 * slow, `${fast} and ${slow}`)
  assert.equal(startsIn(3000, 10_000), 100)
  // 40 s for both to start, or responses of 4 s.
  const slowly = (pace: ReturnType<typeof paceOf>) =>
    startsWithin(900_000, experiment, result, new Map([['GET /', pace]]))
  assert.ok(slowly(paceOf(10_000, 40_000)) < 22)
  const rates = new Map(result.cells.map(({ id }) => [id, 8]))
  assert.ok(slowly({ ...paceOf(10), rates }) < 40)
})

test('where a verdict needs all the time, latencies are left out, unless a rate was asked for', () => {
  const systems = ['before', 'after'].map((name) => ({ name }))
  const plan = { profile: 'full', heats: 5, seed: 1 } as const
  const fitsIn = (seconds: number, { rate, heats = 5 }: { rate?: number; heats?: number } = {}) => {
    const experiment = createRace({ systems, requests: [{ path: '/' }], connections: 32, rate })
    const result = createStudyResult(experiment, { ...plan, heats }, '')
    Object.assign(result.settings, RACE_SETTINGS)
    for (const cell of result.cells) cell.warmupMs = 1250
    return fitsLatencies(seconds * 1000, experiment, result, new Map([['GET /', paceOf(10_000)]]))
  }
  assert.deepEqual([fitsIn(21), fitsIn(60)], [false, true])
  assert.equal(fitsIn(21, { rate: 100 }), true)
  assert.equal(fitsIn(21, { heats: 2 }), true)
})
