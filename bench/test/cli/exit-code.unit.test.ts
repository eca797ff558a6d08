import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayEnd } from '../../src/cli/measure.ts'
import type { Result } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'
import { rateResult } from '../fixtures/results.ts'

/** Of a run that was not interrupted. @param fails of --fail-if-slower */
const endOf = (result: Result, fails = false) => sayEnd(result, fails, false)

const GREEN = { sentences: [], code: 0 }

test('what responded wrongly or was never measured fails the command; noise and a twin do not', () => {
  // hono/ssr has timeouts. koa/status is void because its server was idle.
  assert.deepEqual(endOf(rateResult()), {
    sentences: ['1 of 47 cells could not be run, or responded wrongly: exit code 1.'],
    code: 1,
  })
  const result = rateResult({})
  const failures = [{ cell: 'node/hello#2 direct', reason: 'it ended' }]
  const heats = result.heats.map((heat) => ({ ...heat, failures }))
  assert.deepEqual([endOf(result), endOf({ ...result, heats })], [GREEN, GREEN])
  const unmeasured = result.heats.map((heat) => ({
    ...heat,
    slices: heat.slices.filter(({ cell, phase }) => cell !== 'koa/hello direct' || phase === 'warmup'),
  }))
  const { sentences, code } = endOf({ ...result, heats: unmeasured })
  assert.match(sentences.join(), /^1 of 47 cells could not be run/)
  assert.equal(code, 1)
  const interrupted = sayEnd({ ...result, heats: unmeasured }, false, true)
  assert.match(interrupted.sentences.join(), /^Interrupted: what was measured before is above /)
})

/** A stored race of commands, in which `after` handles 0.65 (0.56–0.76) times as much as `before`. */
function commands(within: number, change: (result: Result) => void = () => {}): Result {
  const result = golden('commands')
  result.settings.within = within
  change(result)
  return analysed(result)
}

test('--fail-if-slower fails where the whole interval is beyond the margin, and only if it was asked for', () => {
  assert.deepEqual(endOf(commands(0.03), true), {
    sentences: ['after is slower than before by more than 3 % (GET 3:/a 1:/b): exit code 1.'],
    code: 1,
  })
  // 1 − 0.76 is 0.24; the interval ends at 1 − 0.56.
  const ends = [0.22, 0.35, 0.45].map((within) => endOf(commands(within), true))
  assert.equal(ends.map(({ code }) => code).join(), '1,0,0')
  assert.deepEqual(ends[1]?.sentences, [
    'It is not known whether after is slower than before by more than 35 % (GET 3:/a 1:/b): exit code 0.',
  ])
  assert.deepEqual([ends[2], endOf(commands(0.03))], [GREEN, GREEN])
})

test('--fail-if-slower: a faster one is none; what too few starts leave open is told, and is no failure', () => {
  const faster = commands(0.03, (result) => {
    const [before, after] = result.cells
    assert.ok(before && after)
    result.cells.splice(0, 2, after, before)
    for (const system of Object.values(result.experiment.systems)) delete system.twinOf
    for (const pilot of result.pilots) pilot.systems.splice(0, 3, ...pilot.systems.slice(0, 2).reverse())
  })
  assert.deepEqual(endOf(faster, true), GREEN)
  const few = commands(0.03, (result) => {
    result.heats = result.heats.slice(0, 4)
  })
  const { sentences, code } = endOf(few, true)
  assert.match(sentences.join(), /^It is not known whether after is slower than before by more than 3 %/)
  assert.equal(code, 0)
  const alone = commands(0.03, (result) => amongCommands(result, ['before']))
  assert.deepEqual(endOf(alone, true), GREEN)
})

test('a difference between two servers on Node ends with how to ask why, unless somebody has', () => {
  const onNode = (names: readonly string[], command: string) =>
    commands(0.03, (result) => {
      result.command = command
      for (const launch of result.heats.flatMap(({ launches }) => launches))
        if (names.includes(launch.app)) launch.isNode = true
    })
  const hint = ['The same with --why names the functions that account for it: one to four minutes more.']
  assert.deepEqual(endOf(onNode(['before', 'after'], 'race a b')).sentences, hint)
  assert.deepEqual(endOf(onNode(['before'], 'race a b')), GREEN)
  assert.deepEqual(endOf(onNode(['before', 'after'], 'race a b --why')), GREEN)
})
