/**
 * Against servers whose latency is known, no latency is reported as less than it was. That it is not reported as more holds only on a calm
 * machine: `pnpm bench check-instrument`.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { observe, quantile, readHistogram, sinceDue } from '../src/instrument/check.ts'

/** HDR histograms keep three digits. */
const DIGITS = 1.001

for (const ms of sample('constant delays', [20, 50], 1)) {
  test(`a constant delay of ${ms} ms is never reported as less`, async () => {
    const { result, did } = await observe({ kind: 'delay', ms }, { connections: 16, durationMs: 600 })
    const { latency, requests } = result
    // It responds in the order of the requests.
    const held = did.respondedAt.map((time, n) => time - (did.readAt[n] ?? Number.NaN))
    assert.equal(requests, held.length)
    assert.ok(latency.min >= ms, `least ${latency.min}`)
    // No request can take less than the server held it, so neither can any percentile.
    for (const [reported, part] of [
      [latency.p50, 0.5],
      [latency.p90, 0.9],
      [latency.p99, 0.99],
      [latency.max, 1],
    ] as const) {
      const least = quantile(held, part)
      assert.ok(reported * DIGITS >= least, `${reported} ms at ${part}: the server alone took ${least}`)
    }
    assert.ok(latency.mean * DIGITS >= mean(held))
  })
}

/** Requests can be read in another order than they were due. */
const ORDER_MS = 10

const SERVERS = [
  ['stands still for part of each period', { kind: 'freeze', frozenMs: 100, everyMs: 250 }],
  ['can do half of what is offered', { kind: 'queue', perSecond: 100 }],
] as const

const SLOW_SERVERS = SERVERS.flatMap(([name, behaviour]) =>
  [8, 256].map((connections) => ({ name, behaviour, connections })),
)

for (const { name, behaviour, connections } of sample('slow servers', SLOW_SERVERS, 1)) {
  test(`a server that ${name}, ${connections} connections: latency counts from the intended time`, async () => {
    const plan = { connections, rate: 200, arrivals: 'constant', durationMs: 500 } as const
    const { result, did } = await observe(behaviour, plan)
    assert.equal(result.requests, 100, 'every request that is due is sent')
    const truth = sinceDue(did.respondedAt, did, plan.rate)
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
      const reported = readHistogram(result.histograms.latency, part)
      const least = quantile(truth, part) - ORDER_MS
      assert.ok(reported >= least, `${reported} ms at ${part}: by the server's account it was ${least}`)
    }
  })
}
