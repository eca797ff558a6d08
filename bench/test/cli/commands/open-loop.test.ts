import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { figuresOf } from '../../../src/judge/figures.ts'
import { type OpenLoopResult, trialsOf } from '../../../src/model/result.ts'
import { readResult } from '../../../src/model/result-file.ts'
import { failuresOf, OPEN_LOOPS } from '../../fixtures/bench-run.ts'
import { testIf } from '../../fixtures/test-if.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-openloop-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

let runs = 0

/** A short run on one app; whether it has numbers depends on how busy this machine is. */
function start(kind: string, ...more: string[]): { child: ChildProcess; output: string } {
  const output = join(DIRECTORY, String(++runs))
  const args = [CLI, kind, '--only', 'node/hello', '--quick', '--output', output, ...more]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, STARTGRID_TEST_RUN: output },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, as a terminal makes it
  })
  child.stdout?.resume()
  return { child, output }
}

async function run<Kind extends OpenLoopResult['kind']>(kind: Kind, ...more: string[]) {
  const { child, output } = start(kind, '--launches', '1', ...more)
  child.stderr?.resume()
  const [code] = await once(child, 'close')
  const result = read(output, kind)
  assert.ok(code === 0 || code === 1, `exit code ${code}`)
  assert.ok(result.finishedAt !== null)
  assert.deepEqual(failuresOf(result), {})
  assert.equal(result.heats.length, new Set(trialsOf(result).map(({ launch }) => launch)).size)
  assert.deepEqual(figuresOf(result, {}), result.analysis)
  return result
}

function read<Kind extends OpenLoopResult['kind']>(
  output: string,
  kind: Kind,
): Extract<OpenLoopResult, { kind: Kind }> {
  const result = readResult(join(output, 'result.json'))
  assert.equal(result.kind, kind)
  return result as Extract<OpenLoopResult, { kind: Kind }>
}

/** Whatever a run started carries its mark in the environment. */
function processesOf(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`STARTGRID_TEST_RUN=${mark}`)
      )
    } catch {
      return false // ended meanwhile, or not ours
    }
  })
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
      const { child, output } = start('overload', '--launches', '9')
      let said = ''
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      while (!said.includes('heat 2 of 9')) await once(child.stderr ?? child, 'data')
      process.kill(-(child.pid ?? 0), 'SIGINT')
      const [code] = await once(child, 'close')
      assert.equal(code, 130)
      const result = read(output, 'overload')
      assert.equal(result.finishedAt, null)
      // Usually the first one; on a busy machine this process hears of the second heat late.
      const launches = [...new Set(trialsOf(result).map(({ launch }) => launch))]
      assert.ok(launches.length >= 1 && launches.length < 9, `${launches.length} launches`)
      assert.deepEqual(
        launches,
        Array.from(launches, (_, index) => index + 1),
      )
      assert.deepEqual(failuresOf(result), {})
      assert.deepEqual(processesOf(output), [])
      assert.match(said, /Go on with pnpm bench overload --resume/)
    },
  )
})
