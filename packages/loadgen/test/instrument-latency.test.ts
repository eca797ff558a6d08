/** The instrument in closed loop against servers whose latency is known: what it reports is what was built in. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LoadGenerator, startGenerator, sumErrors } from '../src/index.ts'
import { startFault } from './faults/fault-server.ts'
import { mean, quantile } from './faults/statistics.ts'

let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

/** What the kernel and the generator may add to a latency at the median, on a machine that others use too. */
const ADDED_MS = 4

/** HDR histograms keep three digits. */
const DIGITS = 1.001

for (const ms of [20, 50]) {
  test(`a constant delay of ${ms} ms is reported as such, and never as less`, async () => {
    await using server = await startFault('delay', { ms })
    const { latency, requests } = await generator.run({
      target: server.target,
      path: '/',
      connections: 16,
      durationMs: 600,
    })
    const { readAt, answeredAt } = await server.did()
    // It answers in the order of the requests.
    const held = answeredAt.map((time, n) => time - (readAt[n] ?? Number.NaN))
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
    assert.ok(latency.mean >= mean(held))
    assert.ok(latency.p50 < quantile(held, 0.5) + ADDED_MS, `median ${latency.p50}`)
  })
}

for (const connections of [1, 32]) {
  test(`Little's law: ${connections} connections = rate × mean latency`, async () => {
    await using server = await startFault('delay', { ms: 10 })
    const result = await generator.run({
      target: server.target,
      path: '/',
      connections,
      warmupMs: 100,
      durationMs: 1_000,
    })
    const inFlight = (result.rate * result.latency.mean) / 1_000
    assert.ok(Math.abs(inFlight / connections - 1) < 0.03, `${inFlight} in flight on average`)
  })
}

test('closed loop hides a server that stands still for two fifths of the time', async () => {
  await using server = await startFault('freeze', { frozenMs: 200, everyMs: 500 })
  const connections = 8
  const result = await generator.run({
    target: server.target,
    path: '/',
    connections,
    durationMs: 1_500,
  })
  const { faults } = await server.did()
  assert.equal(sumErrors(result.errors), 0)
  // Each freeze catches each connection once: a few answers in thousands.
  assert.ok(faults * connections < result.requests / 100, `${faults} freezes, ${result.requests} answers`)
  assert.ok(result.latency.p99 < 20, `p99 ${result.latency.p99} ms`)
  assert.ok(result.latency.max > 190 && result.latency.max < 300, `max ${result.latency.max} ms`)
})
