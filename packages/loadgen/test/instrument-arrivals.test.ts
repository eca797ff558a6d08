/** The instrument in open loop: every request that is due is sent, once. How evenly is for `pnpm bench check-instrument`. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LoadGenerator, startGenerator, sumErrors } from '../src/index.ts'
import { type FaultServer, startFault } from '../src/instrument/faults/fault-server.ts'

let generator: LoadGenerator
/** Responds at once. */
let server: FaultServer
before(async () => {
  generator = await startGenerator()
  server = await startFault('at-once', {})
})
after(async () => {
  await generator.stop()
  await server[Symbol.asyncDispose]()
})

for (const threads of [1, 2]) {
  test(`constant arrivals from ${threads} threads: as many as are due, however late`, async () => {
    const before = (await server.did()).requests
    const plan = { target: server.target, path: '/', connections: 64, rate: 60, threads, durationMs: 1_000 }
    const result = await generator.run({ ...plan, arrivals: 'constant' })
    assert.equal(sumErrors(result.errors), 0)
    assert.equal(result.requests, (await server.did()).requests - before)
    // A thread may begin with a request or with a gap.
    assert.ok(Math.abs(result.requests - 60) <= threads, `${result.requests} requests`)
  })
}

test('a seed repeats the arrivals, another does not', async () => {
  const plan = { target: server.target, path: '/', connections: 64, rate: 1_000, durationMs: 300 }
  const counts: number[] = []
  for (const seed of [1, 1, 2]) counts.push((await generator.run({ ...plan, seed })).requests)
  const [first, again, other] = counts
  assert.equal(first, again)
  assert.notEqual(first, other)
})
