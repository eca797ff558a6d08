/** The instrument against servers whose responses are right but awkward: no error may be made of them. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sample, TEST_RUN } from '@startgrid/cli/test-run.ts'
import { exactly, type LoadGenerator, startGenerator } from '../src/index.ts'
import { bodyOf } from '../src/instrument/faults/bodies.ts'
import { startFault } from '../src/instrument/faults/fault-server.ts'
import { noErrors } from '../src/report/result.ts'

let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

/** Hundreds of reads; in a full run thousands. */
const MANY_BYTES = TEST_RUN.full ? 10_000_000 : 1_000_000

const BODIES = [0, 1, 7_919, MANY_BYTES].flatMap((bytes) =>
  (['length', 'chunks', 'close'] as const).map((framing) => ({ bytes, framing })),
)

// Four neighbours have all framings.
for (const { bytes, framing } of sample('awkward bodies', BODIES, 4)) {
  test(`${bytes} bytes framed by ${framing}, in odd pieces`, async () => {
    await using server = await startFault('chunks', { bytes, framing })
    const body = bodyOf(bytes)
    const sha256 = createHash('sha256').update(body).digest('hex')
    const result = await generator.run({
      target: server.target,
      path: '/',
      connections: 2,
      requests: 6,
      expect: { body: { length: bytes, sha256 }, checkEvery: 1 },
    })
    const did = await server.did()
    assert.equal(did.responses, 6)
    assert.equal(result.requests, did.responses)
    assert.equal(result.checked, did.responses)
    assert.deepEqual(result.errors, noErrors())
    assert.ok(result.bytes > did.responses * bytes)
  })
}

test('a response that trickles in is one response, and takes until its last byte', async () => {
  await using server = await startFault('trickle', { ms: 1 })
  const result = await generator.run({
    target: server.target,
    path: '/',
    connections: 4,
    requests: 40,
    expect: { body: exactly('drop by drop'), checkEvery: 1 },
  })
  const did = await server.did()
  assert.equal(result.requests, did.responses)
  assert.deepEqual(result.errors, noErrors())
  // 51 bytes, with a millisecond between two of them.
  assert.ok(result.latency.min > 40, `least ${result.latency.min} ms`)
})
