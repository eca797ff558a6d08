import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRace, RACE_SETTINGS } from '../../src/experiment/race.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { startsWithin } from '../../src/measure/race.ts'

test('a race takes as many starts as fit, at least those planned; fast servers need less time for a latency', () => {
  const systems = ['before', 'after'].map((name) => ({ name }))
  const experiment = createRace({ systems, requests: [{ path: '/' }], connections: 32 })
  const plan = { profile: 'full', asPublished: false, heats: 10, seed: 1 } as const
  const result = createStudyResult(experiment, plan, '')
  Object.assign(result.settings, RACE_SETTINGS)
  for (const cell of result.cells) cell.warmupMs = 500
  const startsIn = (seconds: number, rate: number) =>
    startsWithin(seconds * 1000, experiment, result, new Map([['GET /', rate]]))
  assert.equal(startsIn(20, 10_000), 10)
  const [fast, slow] = [startsIn(300, 10_000), startsIn(300, 50)]
  assert.ok(fast > 50 && slow > 30 && fast > 1.3 * slow, `${fast} and ${slow}`)
  assert.equal(startsIn(3000, 10_000), 100)
})
