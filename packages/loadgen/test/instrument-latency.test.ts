/**
 * Against servers whose latency is known, no latency is reported as less than it was. That it is not reported as more holds only on a calm
 * machine: `pnpm bench check-instrument`.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { poisson } from '../src/engine/poisson.ts'
import { observe } from '../src/instrument/check.ts'
import { percentiles } from '../src/report/histogram.ts'

/** Requests can be read in another order than they were due. */
const ORDER_MS = 10

for (const connections of [8, 256]) {
  test(`a server that stands still for part of each period, ${connections} connections: latency counts from the intended time`, async () => {
    const plan = { connections, rate: 200, seed: 1, durationMs: 500 }
    const freeze = { kind: 'freeze', frozenMs: 100, everyMs: 250 } as const
    const { result, did } = await observe(freeze, plan)
    // When each request was due, by its seed and by the server's own clock: the most punctual one tells when the schedule began.
    const next = poisson(plan.rate, createRandom(plan.seed))
    const due = did.readAt.map(next)
    assert.ok(next() > plan.durationMs, 'every request that is due is sent')
    const began = Math.min(...did.readAt.map((time, n) => time - (due[n] ?? 0)))
    const truth = did.respondedAt.map((time, n) => time - (due[n] ?? 0) - began)
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
      const [reported = 0] = percentiles(result.histograms.latency, [100 * part])
      const least = quantile(truth, part) - ORDER_MS
      assert.ok(reported >= least, `${reported} ms at ${part}: by the server's account it was ${least}`)
    }
  })
}

/** The smallest value that is not exceeded by this part of all values, as histograms have it. @param part 0 to 1 */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}
