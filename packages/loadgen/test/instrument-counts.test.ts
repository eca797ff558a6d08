/** The instrument told to send a number of requests, on pipelined connections, or on a connection each: it counts right. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { exactly, type LoadGenerator, startGenerator, sumErrors } from '../src/index.ts'
import { RIGHT } from '../src/instrument/faults/bodies.ts'
import { type FaultServer, startFault } from '../src/instrument/faults/fault-server.ts'
import { noErrors } from '../src/report/result.ts'

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

const SHAPES = {
  'closed loop': {},
  'closed loop, pipelined': { pipeline: 8 },
  'a connection each': { newConnections: true },
  'open loop': { rate: 5_000 },
} as const

for (const [name, shape] of sample('shapes of a load', Object.entries(SHAPES), 3)) {
  test(`exactly the number of requests that was asked for: ${name}`, async () => {
    for (const requests of [2, 7, 1_001]) {
      const before = (await server.did()).requests
      const plan = { target: server.target, path: '/', connections: 16, requests, ...shape }
      const result = await generator.run(plan)
      assert.equal(result.requests, requests)
      assert.equal((await server.did()).requests - before, requests)
      assert.deepEqual(result.errors, noErrors())
    }
  })
}

test('requests that fail are of that number', async () => {
  const kinds = [
    ['status', 'status'],
    ['reset', 'reset'],
  ] as const
  for (const [fault, kind] of sample('requests that fail', kinds, 1)) {
    await using server = await startFault('every-nth', { every: 10, fault })
    const plan = { target: server.target, path: '/', connections: 8, requests: 1_000 }
    const result = await generator.run(plan)
    const did = await server.did()
    assert.equal(did.requests, 1_000)
    assert.equal(did.faults, 100)
    assert.equal(result.requests, did.responses)
    assert.deepEqual(result.errors, { ...noErrors(), [kind]: 100 })
  }
})

test('a connection each', async () => {
  const before = await server.did()
  const plan = { target: server.target, path: '/', connections: 8, newConnections: true, requests: 500 }
  const result = await generator.run(plan)
  const did = await server.did()
  const requests = did.requests - before.requests
  const connections = did.connections - before.connections
  assert.equal(result.requests, requests)
  assert.ok(connections >= requests && connections <= requests + 8)
  assert.deepEqual(result.errors, noErrors())
})

test('pipelined responses belong to their own requests', async () => {
  await using server = await startFault('every-nth', { every: 10, fault: 'status' })
  const expect = { body: exactly(RIGHT), checkEvery: 1 }
  const plan = { target: server.target, path: '/', connections: 4, pipeline: 8, requests: 2_000, expect }
  const result = await generator.run(plan)
  const did = await server.did()
  assert.equal(result.requests, did.responses)
  assert.deepEqual(result.errors, { ...noErrors(), status: did.faults })
})

test('a reset loses each request that was in flight on its connection, once', async () => {
  await using server = await startFault('every-nth', { every: 50, fault: 'reset' })
  const plan = { target: server.target, path: '/', connections: 4, pipeline: 8, requests: 1_000 }
  const result = await generator.run(plan)
  assert.equal(result.requests + sumErrors(result.errors), 1_000)
  assert.deepEqual(result.errors, { ...noErrors(), reset: result.errors.reset })
  const { faults } = await server.did()
  assert.ok(result.errors.reset >= faults && result.errors.reset <= 8 * faults)
})

test('the histograms are what others read, and say what the result says', async () => {
  await using server = await startFault('delay', { ms: 5 })
  const plan = { target: server.target, path: '/', connections: 64, rate: 1_000, durationMs: 500 }
  const result = await generator.run(plan)
  assert.ok(result.lag !== null && result.histograms.lag !== null)
  for (const [latency, encoded] of [
    [result.latency, result.histograms.latency],
    [result.service, result.histograms.service],
    [result.lag, result.histograms.lag],
  ] as const) {
    const histogram = decodeFromCompressedBase64(encoded)
    assert.equal(histogram.totalCount, result.requests)
    for (const [reported, percent] of [
      [latency.p50, 50],
      [latency.p90, 90],
      [latency.p99, 99],
      [latency.p999, 99.9],
      [latency.max, 100],
    ] as const) {
      const read = histogram.getValueAtPercentile(percent) / 1e6
      assert.ok(Math.abs(read - reported) <= 0.002 * reported + 1e-6, `p${percent}: ${read} and ${reported}`)
    }
  }
})
