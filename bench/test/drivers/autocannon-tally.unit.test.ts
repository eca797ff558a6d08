import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AutocannonTally } from '../../src/drivers/autocannon-tally.ts'

const TWO = { connections: 2, status: 200, now: 1000 }

/** Responses of `milliseconds` each, 10 ms apart, the first at 1010. */
function respond(tally: AutocannonTally, count: number, milliseconds: number): void {
  for (let n = 1; n <= count; n++) tally.responded(200, milliseconds, 1000 + 10 * n)
}

describe('the tally of autocannon', () => {
  test('does not count the first responses, one per connection, nor their time', () => {
    const tally = new AutocannonTally(TWO)
    respond(tally, 2, 500)
    for (let n = 3; n <= 12; n++) tally.responded(200, 20, 1000 + 10 * n)
    const load = tally.finish({ sent: 14, stoppedAt: 1115 })
    assert.equal(load.requests, 10)
    assert.equal(load.seconds, 0.1)
    assert.equal(load.latencySeconds.mean, 0.02)
    assert.ok(Math.abs(load.latencySeconds.p99 - 0.02) < 0.0001)
    assert.deepEqual(load.errors, { connect: 0, reset: 0, timeout: 0, status: 0 })
  })

  test('has a time up to the end that was asked for, if the server fell silent before', () => {
    const tally = new AutocannonTally(TWO)
    respond(tally, 12, 20)
    assert.equal(tally.finish({ sent: 14, stoppedAt: 2020 }).seconds, 1)
  })

  test('counts requests that came to nothing in silence as reset', () => {
    const tally = new AutocannonTally(TWO)
    respond(tally, 12, 20)
    tally.failed('reset')
    tally.failed('connect')
    tally.failed('timeout')
    const { errors } = tally.finish({ sent: 12 + 3 + 2 + 5, stoppedAt: 1115 })
    assert.deepEqual(errors, { connect: 1, reset: 6, timeout: 1, status: 0 })
  })

  test('counts every status but the expected one, from the first response on', () => {
    const tally = new AutocannonTally({ ...TWO, status: 204 })
    tally.responded(200, 1, 1001)
    tally.responded(204, 1, 1002)
    tally.responded(302, 1, 1003)
    assert.equal(tally.finish({ sent: 5, stoppedAt: 1004 }).errors.status, 2)
  })

  test('is zero, and not NaN, with nothing to count', () => {
    const load = new AutocannonTally(TWO).finish({ sent: 2, stoppedAt: 1500 })
    assert.deepEqual(load.latencySeconds, { mean: 0, p50: 0, p99: 0 })
    assert.equal(load.requests, 0)
    assert.equal(load.seconds, 0.5)
  })
})
