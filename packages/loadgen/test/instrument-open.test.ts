/** The instrument in open loop against servers that stand still or cannot keep up: latency counts from the intended time. */

import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import {
  type LoadGenerator,
  type LoadPlan,
  type LoadResult,
  startGenerator,
  sumErrors,
} from '../src/index.ts'
import { watchWaiting, whenCalm } from './faults/calm.ts'
import type { Did } from './faults/fault-process.ts'
import { type FaultServer, startFault } from './faults/fault-server.ts'
import { quantile } from './faults/statistics.ts'

/** What kernel, timers and the answers to a backlog take. */
const SLACK_MS = 10
/** Part of a load's time that generator and server may be kept from running for anything to be said about it. */
const BUSY = 0.5

let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

interface Observed {
  result: LoadResult
  did: Did
  /** Milliseconds that generator and server were kept from running. */
  waitedMs: number
}

type Plan = Omit<LoadPlan, 'target' | 'path'>

/** Loads a server of its own. @param tookMs how long that takes @returns undefined if the machine was too busy; then the test is skipped */
function observe(
  t: TestContext,
  start: () => Promise<FaultServer>,
  plan: Plan,
  tookMs: number,
): Promise<Observed | undefined> {
  return whenCalm(t, BUSY * tookMs, async () => {
    await using server = await start()
    return await load(server, plan)
  })
}

async function load(server: FaultServer, plan: Plan): Promise<Observed> {
  const waited = watchWaiting(server, generator)
  const result = await generator.run({ target: server.target, path: '/', ...plan })
  const waitedMs = waited()
  const did = await server.did()
  assert.equal(sumErrors(result.errors), 0)
  assert.equal(result.requests, did.answers, 'whoever arrived is answered and reported')
  return { result, did, waitedMs }
}

/** Read by the library that others use, not by our own code. @param part 0 to 1 @returns milliseconds */
function reported(encoded: string, part: number): number {
  return decodeFromCompressedBase64(encoded).getValueAtPercentile(100 * part) / 1e6
}

function assertBetween(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what} is ${value}, expected ${least} to ${most}`)
}

function assertNear(value: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(value - expected) <= tolerance, `${what} is ${value}, not ${expected} ± ${tolerance}`)
}

/** How late answers may be read: no single stall was longer than some part of all waiting. */
function slackOf({ waitedMs }: Observed): number {
  return SLACK_MS + waitedMs / 4
}

/**
 * Constant arrivals: how long after it was due each request was answered, by the server's own account. That is right however
 * disturbed the machine was. The most punctual request tells when the schedule began.
 */
function answeredAfter({ readAt, answeredAt }: Did, rate: number): number[] {
  const began = Math.min(...readAt.map((time, n) => time - (n * 1000) / rate))
  return answeredAt.map((time, n) => time - (n * 1000) / rate - began)
}

function assertCorrected(observed: Observed, rate: number): void {
  const truth = answeredAfter(observed.did, rate)
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99]) {
    const value = reported(observed.result.histograms.latency, part)
    const sent = quantile(truth, part)
    // An answer cannot be read before it is sent, but later if the generator was kept from running.
    assertBetween(value, sent - SLACK_MS, sent + slackOf(observed), `at ${part} the corrected latency in ms`)
  }
}

/** @returns whether server and generator could run nearly all the time, so that theory holds */
function isCalm(t: TestContext, { waitedMs }: Observed, durationMs: number): boolean {
  if (waitedMs < 0.12 * durationMs) return true
  t.diagnostic(`not held against theory: server and generator waited ${waitedMs.toFixed(0)} ms for a core`)
  return false
}

/** Lateness of the generator alone. */
function assertPunctual(observed: Observed): void {
  const { result, waitedMs } = observed
  const lag = result.histograms.lag ?? assert.fail('no lag')
  assertNear(reported(lag, 0.9), 0, slackOf(observed), 'p90 of the lag in ms')
  // A generator that was kept from running says so, but a server that stands still or cannot keep up is no reason.
  if (result.self.bound) assert.ok(waitedMs > 10, result.self.reason ?? '')
}

const FREEZE = { frozenMs: 200, everyMs: 500 }
/** Whole periods: each point of the period gets the same number of arrivals, wherever the load begins. */
const PERIODS_MS = 4 * FREEZE.everyMs

/**
 * Who arrives while the server stands still waits for the rest of it: uniformly from 0 to F. So with F out of every T ms frozen,
 * a part x · F/T of all requests waits longer than F · (1 − x). Percentiles move by no more than the part of all requests that is
 * uncertain.
 */
function assertFrozen(encoded: string, { waitedMs }: Observed, random = 0): void {
  const { frozenMs, everyMs } = FREEZE
  const uncertain = random + waitedMs / PERIODS_MS
  const theory = (part: number) => frozenMs * (1 - ((1 - part) * everyMs) / frozenMs)
  for (const part of [0.5, 0.7, 0.8, 0.9, 0.99]) {
    const value = reported(encoded, part)
    const least = Math.max(0, theory(part - uncertain)) - SLACK_MS
    const most = Math.max(0, theory(part + uncertain)) + SLACK_MS + waitedMs
    assertBetween(value, least, most, `at ${part} the latency in ms`)
  }
}

test('a server that stands still for part of each period: as many connections as needed', async (t) => {
  const plan = { connections: 256, rate: 500, arrivals: 'constant', durationMs: PERIODS_MS } as const
  const observed = await observe(t, () => startFault('freeze', FREEZE), plan, PERIODS_MS)
  if (observed === undefined) return
  assertCorrected(observed, plan.rate)
  assertPunctual(observed)
  if (!isCalm(t, observed, PERIODS_MS)) return
  assertFrozen(observed.result.histograms.latency, observed)
  // No request had to wait for a connection, so the service time is the whole truth here.
  assertFrozen(observed.result.histograms.service, observed)
})

test('the same with few connections: only the corrected latency shows it', async (t) => {
  const plan = { connections: 8, rate: 500, arrivals: 'constant', durationMs: PERIODS_MS } as const
  const observed = await observe(t, () => startFault('freeze', FREEZE), plan, PERIODS_MS)
  if (observed === undefined) return
  assertCorrected(observed, plan.rate)
  assertPunctual(observed)
  // Only the first 8 of each freeze are sent before it ends: 3 % of all.
  const { histograms, service } = observed.result
  assert.ok(
    reported(histograms.service, 0.9) < reported(histograms.latency, 0.9) / 2,
    'service time hides it',
  )
  assert.ok(service.max > FREEZE.frozenMs - SLACK_MS)
  if (isCalm(t, observed, PERIODS_MS)) assertFrozen(histograms.latency, observed)
})

test('the same with Poisson arrivals', async (t) => {
  const plan = { connections: 512, rate: 2_000, seed: 3, durationMs: PERIODS_MS }
  const observed = await observe(t, () => startFault('freeze', FREEZE), plan, PERIODS_MS)
  if (observed === undefined) return
  assertPunctual(observed)
  // Four standard deviations of the part of so many random arrivals that meets a freeze.
  const random = 4 * Math.sqrt(0.25 / observed.result.requests)
  if (isCalm(t, observed, PERIODS_MS)) assertFrozen(observed.result.histograms.latency, observed, random)
})

for (const connections of [32, 1_024]) {
  test(`twice what a server can do, ${connections} connections: latency grows by the second`, async (t) => {
    const perSecond = 100
    const plan = { connections, rate: 2 * perSecond, arrivals: 'constant', durationMs: 1_000 } as const
    const tookMs = 2 * plan.durationMs
    const observed = await observe(t, () => startFault('capacity', { perSecond }), plan, tookMs)
    if (observed === undefined) return
    const { result, waitedMs } = observed
    assert.equal(result.requests, (plan.rate * plan.durationMs) / 1_000)
    assertCorrected(observed, plan.rate)
    assertPunctual(observed)
    assert.ok(result.rate < 1.01 * perSecond, `${result.rate} answers per second`)
    if (!isCalm(t, observed, tookMs)) return
    // The k-th arrives at k / 2C and is answered at k / C: it takes as long as the load had run when it arrived.
    for (const part of [0.1, 0.5, 0.9, 0.99]) {
      const expected = plan.durationMs * part
      assertNear(reported(result.histograms.latency, part), expected, SLACK_MS + waitedMs, `at ${part} in ms`)
    }
    assertNear(result.latency.mean, plan.durationMs / 2, SLACK_MS + waitedMs, 'the mean in ms')
    assertNear(perSecond / result.rate, 1, (SLACK_MS + waitedMs) / plan.durationMs, 'capacity / rate')
  })
}
