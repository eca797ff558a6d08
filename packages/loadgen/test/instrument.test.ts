import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { type Check, figure, observe, runCheck } from '../src/instrument.ts'
import { poisson } from '../src/loops.ts'
import { percentiles } from '../src/recording.ts'

/** Requests can be read in another order than they were due. */
const ORDER_MS = 10

/** That no latency is reported as more than it was holds only on a calm machine: `pnpm bench check-instrument`. */
test('a server that stands still for part of each period: latency counts from the intended time, also if no connection is free', async () => {
  const plan = { connections: 8, rate: 200, seed: 1, durationMs: 500 }
  const { result, did } = await observe({ freeze: { frozenMs: 100, everyMs: 250 } }, plan)
  // When each request was due, by its seed and by the server's own clock: the most punctual one tells when the schedule began.
  const next = poisson(plan.rate, createRandom(plan.seed))
  const due = did.readAt.map(next)
  assert.ok(next() > plan.durationMs, 'every request that is due is sent')
  const began = Math.min(...did.readAt.map((time, n) => time - (due[n] ?? 0)))
  const truth = did.respondedAt.map((time, n) => time - (due[n] ?? 0) - began).toSorted((a, b) => a - b)
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
    const [reported = 0] = percentiles(result.histograms.latency, [100 * part])
    const least = (truth[Math.ceil(part * truth.length) - 1] ?? Number.NaN) - ORDER_MS
    assert.ok(reported >= least, `${reported} ms at ${part}: by the server's account it was ${least}`)
  }
  // More requests are due in that time than there are connections.
  assert.ok(result.service.mean < result.latency.mean, 'service counts from the send')
})

const CALM = { figures: [figure('rate', 101, 95, 105)], waitedMs: 3 }
const WRONG = { figures: [figure('rate', 80, 95, 105)], waitedMs: 3 }
const DISTURBED = { ...WRONG, waitedMs: 500 }

/** How `pnpm bench check-instrument` decides. @param trials what each gives; one more than are needed fails */
function check(...trials: Awaited<ReturnType<Check['measure']>>[]) {
  const next = trials.values()
  const measure = async () => next.next().value ?? assert.fail('one trial too many')
  return runCheck({ name: 'the rate', calmMs: 100, measure })
}

test('a calm trial decides, two that are wrong, and a miscount however disturbed; what was disturbed condemns nothing', async () => {
  assert.equal((await check(CALM)).state, 'sound')
  assert.equal((await check(WRONG, CALM)).state, 'sound')
  assert.equal((await check(DISTURBED, DISTURBED, CALM)).state, 'sound')
  assert.equal((await check(...Array.from({ length: 5 }, () => DISTURBED))).state, 'undecided')
  const wrong = { state: 'wrong', lines: ['! rate: 80 (95 to 105)'] }
  assert.deepEqual(await check(WRONG, DISTURBED, WRONG), wrong)
  assert.deepEqual(await check('no wrk'), { state: 'absent', lines: ['no wrk'] })
  const measure = () => Promise.reject(new Error('requests failed\n\n2 !== 0'))
  const miscounted = await runCheck({ name: 'the rate', calmMs: 100, measure })
  assert.deepEqual(miscounted, { state: 'wrong', lines: ['requests failed'] })
})
