import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeRegressions, whyRunFailed } from '../../src/cli/exit-code.ts'
import type { Result } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'
import { contendedResult, rateResult, suspectResult } from '../fixtures/results.ts'

test('what responded wrongly fails the command, and noise does not', () => {
  // hono/ssr has timeouts. koa/status is void because its server was idle.
  assert.deepEqual(whyRunFailed(rateResult()), [
    '1 of 41 cells could not be run, or responded wrongly: exit code 1.',
  ])
  for (const result of [contendedResult(), suspectResult()]) assert.deepEqual(whyRunFailed(result), [])
})

test('a twin decides nothing', () => {
  const result = suspectResult()
  const failures = [{ cell: 'node/hello#2 direct', reason: 'it ended' }]
  assert.deepEqual(
    whyRunFailed({ ...result, heats: result.heats.map((heat) => ({ ...heat, failures })) }),
    [],
  )
})

test('a cell that was never measured fails the command', () => {
  const result = suspectResult()
  const heats = result.heats.map((heat) => ({
    ...heat,
    slices: heat.slices.filter(({ cell, phase }) => cell !== 'koa/hello direct' || phase === 'warmup'),
  }))
  assert.match(whyRunFailed({ ...result, heats })[0] ?? '', /^1 of 42 cells could not be run/)
})

/** A stored race of commands, in which `after` handles 0.65 (0.59–0.73) times as much as `before`. */
function commands(change: (result: Result) => void = () => {}): Result {
  const result = golden('commands')
  change(result)
  return analysed(result)
}

test('--fail-on-regression fails where the whole interval is beyond the limit', () => {
  const beyond = ['after is slower than before by more than 3.0 % (GET 3:/a 1:/b): exit code 1.']
  assert.deepEqual(judgeRegressions(commands(), 0.03), { regressions: beyond, caught: [], unjudged: [] })
  // 1 − 0.73 is 0.27.
  assert.equal(judgeRegressions(commands(), 0.26).regressions.length, 1)
  assert.equal(judgeRegressions(commands(), 0.28).regressions.length, 0)
  assert.deepEqual(judgeRegressions(commands(), null), { regressions: [], caught: [], unjudged: [] })
})

test('--fail-on-regression: a faster one is none, and what would have been caught is told', () => {
  const faster = commands((result) => {
    const [before, after] = result.cells
    assert.ok(before && after)
    result.cells.splice(0, 2, after, before)
    for (const system of Object.values(result.experiment.systems)) delete system.twinOf
    for (const pilot of result.pilots) pilot.systems.splice(0, 3, ...pilot.systems.slice(0, 2).reverse())
  })
  const { regressions, caught, unjudged } = judgeRegressions(faster, 0.03)
  assert.deepEqual([regressions, unjudged], [[], []])
  assert.match(
    caught.join(),
    /^GET 3:\/a 1:\/b: no slowdown of before by more than 3\.0 % is shown; this race would have caught one of [\d.]+ % in 4 of 5 runs\.$/,
  )
})

test('--fail-on-regression: without enough starts there is no green; the twin and a race of one need none', () => {
  const few = commands((result) => {
    result.heats = result.heats.slice(0, 4)
  })
  assert.deepEqual(judgeRegressions(few, 0.03), {
    regressions: [],
    caught: [],
    unjudged: ['--fail-on-regression says nothing without 5 starts of each system: exit code 2.'],
  })
  const alone = commands((result) => amongCommands(result, ['before']))
  assert.deepEqual(judgeRegressions(alone, 0.03), { regressions: [], caught: [], unjudged: [] })
})

test('a race of commands fails if a system responds wrongly, whatever the others are', () => {
  assert.deepEqual(whyRunFailed(commands()), [])
  assert.deepEqual(whyRunFailed(commands((result) => amongCommands(result, ['before']))), [])
  const wrong = commands(({ heats }) => {
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell.endsWith(' after')) slice.errors = { status: 2 }
  })
  assert.deepEqual(whyRunFailed(wrong), [
    'race: 1 of 2 cells could not be run, or responded wrongly: exit code 1.',
  ])
})
