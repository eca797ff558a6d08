import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { readOptions } from '../../src/cli/options.ts'
import { describeForesight, foresee, isCrowded, watchCore, watchingMs } from '../../src/measure/forecast.ts'
import { createResult } from '../../src/measure/run.ts'

const plan = () => {
  const result = createResult(readOptions([]), 'rate', '')
  result.settings.cores = { server: 0, generator: 1 }
  return result
}

/** Of a core as fast as that of reference. */
const ROUNDS = 2e6 / 6.5

/** A core with two speeds, each for half a second. */
function coreOf(slower: number) {
  return { spins: spinsOf(slower), rounds: ROUNDS }
}

function spinsOf(slower: number) {
  const random = createRandom(3)
  return Array.from({ length: 250 }, (_, index) => ({
    at: index * 0.02,
    cpuSeconds: 0.002 * (Math.floor(index / 25) % 2 === 0 ? 1 : slower) * (1 + 0.02 * random()),
  })).map((spin) => ({ ...spin, wallSeconds: spin.cpuSeconds }))
}

test('a core that changes its speed gives wide intervals, and the sentence says what more time buys', () => {
  const result = plan()
  const noisy = foresee(result, [coreOf(1.5), coreOf(1)], 0)
  const quiet = foresee(result, [coreOf(1), coreOf(1)], null)
  assert.ok((noisy?.widthOf(3) ?? 0) > 2 * (quiet?.widthOf(3) ?? 1))
  assert.match(
    describeForesight(result, noisy),
    /^This machine's cores change speed by ×1\.5\d within seconds: neighbours that you cannot see\. In 5 minutes: about ±1\d %\. ±\d(\.\d)? % takes 10 minutes: `--max-time 10m`\.$/,
  )
  assert.match(
    describeForesight(result, quiet),
    /^The cores of the servers and of the load generator keep their speed within ×1\.0\d\. In 5 minutes: /,
  )
})

test('the time that the sentence names buys the heats that it promises', () => {
  const options = readOptions(['--max-time', '10m'])
  assert.equal(createResult(options, 'rate', '').settings.heats, 2 * plan().settings.heats)
})

test('a core that changes its speed counts on either side; a slow machine takes fewer passes, so intervals are wider', () => {
  const result = plan()
  const widthOf = (...cores: ReturnType<typeof coreOf>[]) => foresee(result, cores, 0)?.widthOf(3) ?? 0
  const quiet = widthOf(coreOf(1), coreOf(1))
  const generator = widthOf(coreOf(1), coreOf(1.5))
  assert.ok(generator > 1.5 * quiet)
  assert.equal(generator, widthOf(coreOf(1.5), coreOf(1)))
  assert.ok(widthOf(coreOf(1.5), coreOf(1.5)) > generator)
  const slow = { ...coreOf(1), rounds: ROUNDS / 2 }
  assert.equal(foresee(result, [slow, slow], 0)?.slowness.toFixed(1), '2.0')
  assert.ok(widthOf(slow, slow) > 1.15 * quiet, `${widthOf(slow, slow)} ${quiet}`)
  const fast = { ...coreOf(1), rounds: 2 * ROUNDS }
  assert.ok(Math.abs(widthOf(fast, fast) / quiet - 1) < 0.01)
})

test('where nothing can be pinned it says so, and one heat gives no forecast', () => {
  const result = plan()
  assert.match(
    describeForesight({ ...result, settings: { ...result.settings, cores: null } }, null),
    /^Nothing can be pinned/,
  )
  assert.equal(foresee(result, [coreOf(1), { spins: spinsOf(1).slice(0, 10), rounds: ROUNDS }], 0), null)
  const single = { ...result, settings: { ...result.settings, heats: 1 } }
  assert.match(
    describeForesight(single, foresee(single, [coreOf(1), coreOf(1)], 0)),
    /One heat of each role gives no intervals\.$/,
  )
})

test('programs that visibly use the core are named, and nothing is promised', () => {
  const result = plan()
  const cores = [coreOf(1), coreOf(1)]
  const said =
    /Other programs use 60 % of the core of the servers: close them, for they widen .* Without them, in 5 minutes: about ±\d/
  const used = foresee(result, cores, 0.6)
  assert.match(describeForesight(result, used), said)
  const preempted = foresee(
    result,
    cores.map(({ spins, rounds }) => ({
      rounds,
      spins: spins.map((spin) => ({ ...spin, wallSeconds: spin.cpuSeconds / 0.4 })),
    })),
    null,
  )
  assert.match(describeForesight(result, preempted), said)
  for (const foresight of [used, preempted]) assert.ok(foresight !== null && isCrowded(foresight))
  const few = foresee(result, cores, 0.05)
  assert.ok(few !== null && !isCrowded(few))
  assert.doesNotMatch(describeForesight(result, few), /Other programs/)
})

const SPIN = { cpuSeconds: 0.002, wallSeconds: 0.002 }

test('watching ends with the process that spins, and with an abort', async () => {
  let left = 3
  const ending = { rounds: ROUNDS, spin: async () => (left-- > 0 ? SPIN : null) }
  assert.equal((await watchCore(ending, { ms: 600, signal: new AbortController().signal })).spins.length, 3)
  const abort = new AbortController()
  const aborting = {
    rounds: ROUNDS,
    spin: async () => {
      abort.abort()
      return SPIN
    },
  }
  assert.equal((await watchCore(aborting, { ms: 600, signal: abort.signal })).spins.length, 1)
})

test('a default run watches for 5 s, one of a few seconds for a tenth of them, but never for less than 30 spins', () => {
  const result = plan()
  assert.equal(watchingMs(result), 5000)
  const ofHeats = (heats: number, cells = result.cells.filter(({ role }) => role === 'status')) =>
    watchingMs({ ...result, cells, settings: { ...result.settings, heats } })
  assert.ok(ofHeats(1) > 600 && ofHeats(1) < 5000, `${ofHeats(1)}`)
  assert.equal(ofHeats(1, result.cells.slice(0, 1)), 600)
})
