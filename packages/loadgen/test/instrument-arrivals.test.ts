/** The instrument in open loop: requests reach the server when the arrival process says so, whatever the server does. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LoadGenerator, type LoadResult, startGenerator, sumErrors } from '../src/index.ts'
import { watchWaiting, whenCalm } from './faults/calm.ts'
import type { Did } from './faults/fault-process.ts'
import { startFault } from './faults/fault-server.ts'
import {
  autocorrelation,
  distanceFromExponential,
  gaps,
  mean,
  slope,
  variation,
} from './faults/statistics.ts'

const SECONDS = 2
/** How long server and generator may be kept from running during one load. */
const CALM_MS = 200

let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

interface Offered {
  result: LoadResult
  did: Did
  waitedMs: number
}

async function offer(arrivals: 'poisson' | 'constant', rate: number, threads: number): Promise<Offered> {
  await using server = await startFault('at-once', {})
  const waited = watchWaiting(server, generator)
  const result = await generator.run({
    target: server.target,
    path: '/',
    connections: 64,
    rate,
    arrivals,
    seed: 11,
    threads,
    durationMs: 1_000 * SECONDS,
  })
  const waitedMs = waited()
  const did = await server.did()
  assert.equal(sumErrors(result.errors), 0)
  assert.equal(result.requests, did.requests)
  return { result, did, waitedMs }
}

function assertNear(value: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(value - expected) <= tolerance, `${what} is ${value}, not ${expected} ± ${tolerance}`)
}

for (const threads of [1, 2]) {
  test(`Poisson arrivals from ${threads} threads are a Poisson process to the server`, async (t) => {
    const rate = 150
    const offered = await whenCalm(t, CALM_MS, () => offer('poisson', rate, threads))
    if (offered === undefined) return
    const { did } = offered
    const between = gaps(did.readAt)
    const deviation = 1 / Math.sqrt(between.length)
    // Four standard deviations, and something for what the machine does to short gaps.
    assertNear(did.requests, rate * SECONDS, 4 * Math.sqrt(rate * SECONDS), 'the number of requests')
    assertNear(mean(between) * rate, 1_000, 4_000 * deviation, 'the mean gap × rate in ms')
    assertNear(variation(between), 1, 4 * deviation + 0.05, 'the coefficient of variation')
    assertNear(autocorrelation(between), 0, 4 * deviation + 0.05, 'the correlation of neighbours')
    assertNear(distanceFromExponential(between), 0, 1.6 * deviation + 0.05, 'the distance from exponential')
  })

  test(`constant arrivals from ${threads} threads are evenly spaced to the server`, async (t) => {
    const rate = 60
    const offered = await whenCalm(t, CALM_MS, () => offer('constant', rate, threads))
    if (offered === undefined) return
    const { did } = offered
    const between = gaps(did.readAt)
    assertNear(did.requests, rate * SECONDS, threads, 'the number of requests')
    assertNear(slope(did.readAt) * rate, 1_000, 10, 'the gap × rate in ms')
    // Of exponential gaps, 15 % would be that near to the mean.
    const even = between.filter((gap) => Math.abs(gap * rate - 1_000) < 200).length
    assert.ok(even > 0.6 * between.length, `${even} of ${between.length} gaps are within 20 % of the mean`)
    assert.ok(variation(between) < 0.4, `the coefficient of variation is ${variation(between)}`)
  })
}

for (const arrivals of ['constant', 'poisson'] as const) {
  test(`the offered rate is achieved: ${arrivals}`, async (t) => {
    const rate = 2_000
    const measured = await whenCalm(t, 2 * CALM_MS, () => offer(arrivals, rate, 1))
    if (measured === undefined) return
    const { result, did, waitedMs } = measured
    const { offered, achieved } = result.openLoop ?? assert.fail('no open-loop figures')
    const random = arrivals === 'constant' ? 2 : 4 * Math.sqrt(rate / SECONDS)
    assertNear(offered, rate, random, 'offered')
    assertNear(achieved / offered, 1, 0.01, 'achieved / offered')
    assertNear(did.requests / SECONDS / achieved, 1, 0.01, 'what the server saw / achieved')
    assert.ok(!result.self.bound || waitedMs > 5 * SECONDS, result.self.reason ?? '')
  })
}

test('a seed repeats the arrivals, another does not', async () => {
  await using server = await startFault('at-once', {})
  const plan = { target: server.target, path: '/', connections: 64, rate: 1_000, durationMs: 300 }
  const counts: number[] = []
  for (const seed of [1, 1, 2]) counts.push((await generator.run({ ...plan, seed })).requests)
  const [first, again, other] = counts
  assert.equal(first, again)
  assert.notEqual(first, other)
})
