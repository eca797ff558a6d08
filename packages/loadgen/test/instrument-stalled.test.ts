/** The instrument when it is itself stopped: it must say so, and its own lateness must not pass for the server's. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { type LoadResult, startGenerator, sumErrors } from '../src/index.ts'
import type { Did } from './faults/fault-process.ts'
import { startFault } from './faults/fault-server.ts'
import { quantile } from './faults/statistics.ts'

const STOPPED_MS = 300
const DURATION_MS = 2_000
const RATE = 500

interface Stalled {
  result: LoadResult
  did: Did
  /** How long the generator was stopped at least. */
  stoppedMs: number
}

async function loadStalled(): Promise<Stalled> {
  await using server = await startFault('at-once', {})
  const generator = await startGenerator()
  const plan = { target: server.target, path: '/', connections: 256, durationMs: DURATION_MS }
  const running = generator.run({ ...plan, rate: RATE, arrivals: 'constant' })
  await sleep(700)
  process.kill(generator.pid, 'SIGSTOP')
  const stoppedAt = performance.now()
  await sleep(STOPPED_MS)
  const stoppedMs = performance.now() - stoppedAt
  process.kill(generator.pid, 'SIGCONT')
  const result = await running
  await generator.stop()
  return { result, did: await server.did(), stoppedMs }
}

/** How late each request reached the server. The most punctual one tells when the schedule began. */
function lateness({ readAt }: Did): number[] {
  const early = readAt.map((time, n) => time - (n * 1000) / RATE)
  const began = Math.min(...early)
  return early.map((time) => time - began)
}

test('a stopped generator shows in its lag, and the result says so', async () => {
  const { result, did, stoppedMs } = await loadStalled()
  assert.equal(sumErrors(result.errors), 0)
  assert.equal(result.requests, (RATE * DURATION_MS) / 1_000, 'what it missed is made up for')
  const lag = decodeFromCompressedBase64(result.histograms.lag ?? assert.fail('no lag'))
  const seen = lateness(did)
  // What was due while it was stopped is late by 0 to 300 ms, uniformly: 15 % of all. Others may have kept it waiting as well.
  for (const x of [0.05, 0.25, 0.5, 0.75]) {
    const part = 1 - (x * stoppedMs) / DURATION_MS
    const reported = lag.getValueAtPercentile(100 * part) / 1e6
    assert.ok(reported > stoppedMs * (1 - x) - 10, `at ${part} the lag is only ${reported} ms`)
    assert.ok(
      reported < quantile(seen, part) + 10,
      `at ${part} the lag is ${reported} ms, more than was seen`,
    )
  }
  // From the intended time the latency has the lag in it; that the server had no part in it shows in the service time.
  assert.ok(result.latency.p99 > STOPPED_MS / 2, `p99 ${result.latency.p99} ms`)
  assert.ok(result.service.p90 < result.latency.p90 / 2, `p90 of the service time ${result.service.p90} ms`)
  assert.equal(result.self.bound, true, 'it could not offer the load')
  assert.match(result.self.reason ?? '', /late/)
})
