import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe } from 'node:test'
import { figuresOf } from '../../../src/judge/figures.ts'
import { type OpenLoopResult, trialsOf } from '../../../src/model/result.ts'
import { readResult } from '../../../src/model/result-file.ts'
import {
  assertNothingLeft,
  failuresOf,
  interrupt,
  OPEN_LOOPS,
  saying,
  start,
} from '../../fixtures/bench-run.ts'
import { testIf } from '../../fixtures/test-if.ts'

/** On one app; whether it has numbers depends on how busy this machine is. */
const SHORT = ['--only', 'node/hello', '--quick', '--output', 'out']

async function run<Kind extends OpenLoopResult['kind']>(kind: Kind, ...more: string[]) {
  const { place, ended } = start([kind, ...SHORT, '--launches', '1', ...more])
  const { code } = await ended
  const result = read(place, kind)
  assert.ok(code === 0 || code === 1, `exit code ${code}`)
  assert.ok(result.finishedAt !== null)
  assert.deepEqual(failuresOf(result), {})
  assert.equal(result.heats.length, new Set(trialsOf(result).map(({ launch }) => launch)).size)
  assert.deepEqual(figuresOf(result, {}), result.analysis)
  return result
}

function read<Kind extends OpenLoopResult['kind']>(
  place: string,
  kind: Kind,
): Extract<OpenLoopResult, { kind: Kind }> {
  const result = readResult(join(place, 'out/result.json'))
  assert.equal(result.kind, kind)
  return result as Extract<OpenLoopResult, { kind: Kind }>
}

const testOne = (name: (typeof OPEN_LOOPS)[number]) => testIf(OPEN_LOOPS.includes(name))

describe('pnpm bench', () => {
  testOne('capacity')('capacity climbs a staircase beside the closed-loop rate', async () => {
    const result = await run('capacity', '--p99', '80ms')
    const { analysis, settings } = result
    const trials = trialsOf(result)
    assert.equal(settings.p99Ms, 80)
    assert.equal(trials[0]?.purpose, 'capacity')
    const steps = trials.filter(({ purpose }) => purpose === 'level')
    assert.ok(steps.length >= 3)
    assert.ok(steps.every(({ offered }) => offered !== null && offered > 0))
    assert.equal(analysis?.[0]?.steps.length, steps.length)
  })

  testOne('latency')('latency takes every level, with the capacity beside it', async () => {
    // So low that an app on a starved core can still serve it: else the level is left out.
    const result = await run('latency', '--rate', '20')
    const { analysis } = result
    const trials = trialsOf(result)
    const levels = new Set(trials.filter(({ purpose }) => purpose === 'level').map(({ level }) => level))
    assert.deepEqual([...levels].toSorted(), ['25 %', '50 %', '75 %', 'common'])
    for (const [index, trial] of trials.entries()) {
      if (trial.purpose !== 'level') continue
      assert.ok(trial.histogram !== null && trial.lagHistogram !== null && trial.offered !== null)
      const before = trials.slice(0, index).findLast(({ level }) => level !== trial.level)
      assert.equal(before?.purpose, 'capacity')
    }
    const common = trials.find(({ level }) => level === 'common')
    assert.ok(common !== undefined && (common.offered ?? 0) > 0)
    assert.equal(analysis?.[0]?.levels.length, 4)
  })

  testOne('overload')('overload offers twice the capacity, and watches the recovery', async () => {
    const result = await run('overload')
    const { analysis } = result
    const trials = trialsOf(result)
    const purposes = trials.map(({ purpose }) => purpose)
    assert.ok(purposes.indexOf('level') < purposes.indexOf('overload'))
    assert.ok(purposes.indexOf('overload') < purposes.indexOf('recovery'))
    const recovery = trials.find(({ purpose }) => purpose === 'recovery')
    assert.ok((recovery?.series?.length ?? 0) >= 1)
    assert.equal(analysis?.length, 1)
  })

  testOne('Ctrl-C')(
    'keeps what was measured after Ctrl-C, and leaves no server',
    {
      skip: process.platform !== 'linux',
    },
    async () => {
      const run = start(['overload', ...SHORT, '--launches', '9'])
      await saying(run, 'heat 2 of 9')
      interrupt(run.child)
      const { code, stderr } = await run.ended
      assert.equal(code, 130, stderr)
      const result = read(run.place, 'overload')
      assert.equal(result.finishedAt, null)
      // Usually the first one; on a busy machine this process hears of the second heat late.
      const launches = [...new Set(trialsOf(result).map(({ launch }) => launch))]
      assert.ok(launches.length >= 1 && launches.length < 9, `${launches.length} launches`)
      assert.deepEqual(
        launches,
        Array.from(launches, (_, index) => index + 1),
      )
      assert.deepEqual(failuresOf(result), {})
      assertNothingLeft(run.place)
      assert.match(stderr, /Go on with pnpm bench overload --resume/)
    },
  )
})
