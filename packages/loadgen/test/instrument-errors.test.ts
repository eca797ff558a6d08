/** The instrument against servers that do wrong: it counts what they did, each under its kind, and nothing else. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import {
  type ErrorCounts,
  exactly,
  type LoadGenerator,
  type LoadPlan,
  type LoadResult,
  startGenerator,
} from '../src/index.ts'
import { RIGHT } from '../src/instrument/faults/bodies.ts'
import type { Fault } from '../src/instrument/faults/every-nth.ts'
import type { Did } from '../src/instrument/faults/fault-process.ts'
import { type FaultServer, startFault } from '../src/instrument/faults/fault-server.ts'
import { closedPort } from '../src/instrument/faults/raw-server.ts'
import { noErrors } from '../src/report/result.ts'

const CONNECTIONS = 8
const EVERY = 7

let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

/** Every response's content is compared, and no error is forgiven as warm-up. */
async function load(
  server: FaultServer,
  settings: Partial<LoadPlan> = {},
): Promise<{ result: LoadResult; did: Did }> {
  const result = await generator.run({
    target: server.target,
    path: '/',
    connections: CONNECTIONS,
    ...(settings.durationMs === undefined && { requests: 700 }),
    expect: { body: exactly(RIGHT), checkEvery: 1 },
    ...settings,
  })
  return { result, did: await server.did() }
}

function errors(counts: Partial<ErrorCounts> = {}): ErrorCounts {
  return { ...noErrors(), ...counts }
}

async function loadEveryNth(
  fault: Fault,
  settings: Partial<LoadPlan> = {},
): Promise<{ result: LoadResult; did: Did }> {
  await using server = await startFault('every-nth', { every: EVERY, fault })
  const { result, did } = await load(server, settings)
  assert.equal(did.faults, Math.floor(did.requests / EVERY), 'the server did what is built in')
  assert.equal(result.requests, did.responses, 'every whole response is reported, right or wrong')
  return { result, did }
}

const KINDS = [
  ['status', 'status'],
  ['surplus', 'parse'],
  ['body', 'body'],
  ['half response', 'reset'],
  ['length', 'body'],
  ['reset', 'reset'],
] as const

for (const [fault, kind] of sample('wrong responses', KINDS, 3)) {
  test(`every ${EVERY}th request meets "${fault}": each counts as ${kind}, once`, async () => {
    const { result, did } = await loadEveryNth(fault)
    assert.deepEqual(result.errors, errors({ [kind]: did.faults }))
    assert.equal(result.requests + result.errors.reset + result.errors.parse, did.requests)
    if (fault === 'status')
      assert.deepEqual(result.statuses, { 200: did.responses - did.faults, 500: did.faults })
  })
}

test('the length of every response is compared, sampled or not', async () => {
  const { result, did } = await loadEveryNth('length', {
    expect: { body: exactly(RIGHT), checkEvery: 1_000_000 },
  })
  assert.deepEqual(result.errors, errors({ body: did.faults }))
})

test('samples find wrong bodies of the right length in their true proportion', async () => {
  // The period of the defect and the mean distance of the samples are the same: fixed distances would find all or none.
  const { result, did } = await loadEveryNth('body', {
    requests: 2_000,
    expect: { body: exactly(RIGHT), checkEvery: EVERY },
  })
  const { checked } = result
  assert.deepEqual(result.errors, errors({ body: result.errors.body }))
  assertBinomial(result.errors.body, checked, 1 / EVERY)
  assertBinomial(checked, did.responses, 1 / EVERY)
})

/** Within five standard deviations. */
function assertBinomial(count: number, trials: number, probability: number): void {
  const expected = trials * probability
  const bound = 5 * Math.sqrt(expected * (1 - probability))
  assert.ok(Math.abs(count - expected) < bound, `${count} of ${trials} instead of ${expected} ± ${bound}`)
}

test('a close that is announced is no error', async () => {
  const { result, did } = await loadEveryNth('announced close')
  assert.deepEqual(result.errors, noErrors())
  assert.ok(did.connections >= did.faults)
})

test('a close that is not announced loses the request that is sent into it', async () => {
  const { result, did } = await loadEveryNth('silent close')
  const { reset } = result.errors
  assert.deepEqual(result.errors, errors({ reset }))
  // At the end nothing more is sent, so each connection's last close may lose nothing.
  assert.ok(reset <= did.faults && reset >= did.faults - CONNECTIONS, `${reset} of ${did.faults} closes`)
})

test('silence is a timeout, and the connection is given up', async () => {
  await using server = await startFault('every-nth', { every: 50, fault: 'silence' })
  // Long enough that no other response is late on a busy machine.
  const { result, did } = await load(server, { timeoutMs: 2_000, requests: 200 })
  assert.equal(did.faults, 4)
  assert.equal(result.requests, did.responses)
  assert.deepEqual(result.errors, errors({ timeout: did.faults }))
  assert.ok(result.latency.max < 2_000, 'a request without a response has no latency')
})

test('connections that are closed at once are errors, not load', async () => {
  await using server = await startFault('accept-close', {})
  const { result, did } = await load(server, { durationMs: 250 })
  assert.equal(result.requests, 0)
  assert.equal(result.rate, 0)
  const { reset, connect } = result.errors
  assert.deepEqual(result.errors, errors({ reset, connect }))
  assert.ok(reset + connect > 0 && reset + connect <= did.connections)
  assert.ok(
    reset + connect >= did.connections - 2 * CONNECTIONS,
    'none but the first and the last are missing',
  )
  assertBacksOff(did.connections, result)
})

test('refused connections are errors, not load', async () => {
  const target = { host: '127.0.0.1', port: await closedPort() }
  const result = await generator.run({ target, path: '/', connections: CONNECTIONS, durationMs: 250 })
  assert.equal(result.requests, 0)
  assert.deepEqual(result.errors, errors({ connect: result.errors.connect }))
  assert.ok(result.errors.connect >= CONNECTIONS)
  assertBacksOff(result.errors.connect, result)
})

/** With a back-off of 10 ms; Node's timers may fire 1 ms early. */
function assertBacksOff(attempts: number, { seconds }: LoadResult): void {
  const most = CONNECTIONS * ((seconds * 1000) / 9 + 2)
  assert.ok(attempts <= most, `${attempts} attempts, expected at most ${most}`)
}
