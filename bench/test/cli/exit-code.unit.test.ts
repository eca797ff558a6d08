import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayEnd } from '../../src/cli/measure.ts'
import type { Result } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'
import { rateResult, suspectResult } from '../fixtures/results.ts'

/** Of a run that was not interrupted. @param limit of --fail-on-regression, as a part of 1 */
const endOf = (result: Result, limit: number | null = null) => sayEnd(result, limit, false)

const GREEN = { sentences: [], code: 0 }

test('what responded wrongly or was never measured fails the command; noise and a twin do not', () => {
  // hono/ssr has timeouts. koa/status is void because its server was idle.
  assert.deepEqual(endOf(rateResult()), {
    sentences: ['1 of 41 cells could not be run, or responded wrongly: exit code 1.'],
    code: 1,
  })
  const result = suspectResult()
  const failures = [{ cell: 'node/hello#2 direct', reason: 'it ended' }]
  const heats = result.heats.map((heat) => ({ ...heat, failures }))
  assert.deepEqual([endOf(result), endOf({ ...result, heats })], [GREEN, GREEN])
  const unmeasured = result.heats.map((heat) => ({
    ...heat,
    slices: heat.slices.filter(({ cell, phase }) => cell !== 'koa/hello direct' || phase === 'warmup'),
  }))
  const { sentences, code } = endOf({ ...result, heats: unmeasured })
  assert.match(sentences.join(), /^1 of 42 cells could not be run/)
  assert.equal(code, 1)
  const interrupted = sayEnd({ ...result, heats: unmeasured }, null, true)
  assert.match(interrupted.sentences.join(), /^Interrupted: what was measured before is above /)
})

/** A stored race of commands, in which `after` handles 0.65 (0.59–0.73) times as much as `before`. */
function commands(change: (result: Result) => void = () => {}): Result {
  const result = golden('commands')
  change(result)
  return analysed(result)
}

test('--fail-on-regression fails where the whole interval is beyond the limit', () => {
  assert.deepEqual(endOf(commands(), 0.03), {
    sentences: ['after is slower than before by more than 3.0 % (GET 3:/a 1:/b): exit code 1.'],
    code: 1,
  })
  // 1 − 0.73 is 0.27.
  assert.deepEqual(
    [0.26, 0.28, null].map((limit) => endOf(commands(), limit).code),
    [1, 0, 0],
  )
})

test('--fail-on-regression: a faster one is none, and what would have been caught is told', () => {
  const faster = commands((result) => {
    const [before, after] = result.cells
    assert.ok(before && after)
    result.cells.splice(0, 2, after, before)
    for (const system of Object.values(result.experiment.systems)) delete system.twinOf
    for (const pilot of result.pilots) pilot.systems.splice(0, 3, ...pilot.systems.slice(0, 2).reverse())
  })
  const { sentences, code } = endOf(faster, 0.03)
  assert.equal(code, 0)
  assert.match(
    sentences.join(),
    /^GET 3:\/a 1:\/b: no slowdown of before by more than 3\.0 % is shown; this race would have caught one of [\d.]+ % in 4 of 5 runs\.$/,
  )
})

test('--fail-on-regression: without enough starts there is no green; the twin and a race of one need none', () => {
  const few = commands((result) => {
    result.heats = result.heats.slice(0, 4)
  })
  assert.deepEqual(endOf(few, 0.03), {
    sentences: ['--fail-on-regression says nothing without 5 starts of each system: exit code 2.'],
    code: 2,
  })
  const alone = commands((result) => amongCommands(result, ['before']))
  assert.deepEqual(endOf(alone, 0.03), GREEN)
})
