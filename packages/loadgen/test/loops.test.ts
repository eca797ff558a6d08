import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean } from '@startgrid/stats/moments.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import type { Connection } from '../src/connection.ts'
import { Checker } from '../src/expectation.ts'
import { openLoop, poisson } from '../src/loops.ts'
import { Pool } from '../src/pool.ts'
import { noErrors } from '../src/result.ts'
import { LoopWatch, Tally } from '../src/tally.ts'
import { ResponseTemplate } from '../src/template.ts'

test('what counts is due between the warm-up and the end, and when it was due decides', () => {
  const tally = new Tally(new Checker({}, 1), { from: 100, until: 200 }, true)
  const responded = (intended: number, sent: number, now: number, status = 200) => {
    tally.reached(intended, sent)
    tally.sent(intended, sent)
    const parser = { status, bodyLength: 0 }
    tally.responded({ intended, sent, parser, sampled: false, path: 0, received: 10 } as Connection, now)
  }
  responded(99, 105, 110)
  responded(120, 121, 131)
  responded(130, 150, 155, 500)
  responded(199, 220, 240)
  tally.reached(180, 180)
  tally.failed('timeout', 180, 4)
  tally.failed('reset', 90, 4)
  const { latency, arrivals, ...rest } = tally.measurement(new LoopWatch())
  assert.deepEqual(rest, {
    requests: 3,
    seconds: 0.12,
    bytes: 34,
    checked: 0,
    statuses: { 200: 2, 500: 1 },
    errors: { ...noErrors(), status: 1, timeout: 1 },
    handshakes: {},
    loop: { busy: 0, waitSeconds: null },
  })
  assert.deepEqual([latency.count, latency.max, latency.sum], [3, 41, 77])
  const { lag, service, ...counts } = arrivals ?? assert.fail()
  assert.deepEqual(counts, { seconds: 0.1, due: 4, sent: 2, late: 1 })
  assert.deepEqual([service.count, service.max, service.sum], [3, 20, 35])
  assert.deepEqual([lag.count, lag.max, lag.sum], [4, 21, 42])
})

test('a request that the loop comes to late counts from when it was due', () => {
  const due = [5, 6, Number.POSITIVE_INFINITY].values()
  const schedule = { from: 0, until: 100 }
  const sent: number[] = []
  const pool = { take: () => ({}) } as unknown as Pool
  const tally = new Tally(new Checker({}, 1), schedule, true)
  const send = (_: Connection, intended: number) => sent.push(intended)
  openLoop({ pool, schedule, tally, send }, () => due.next().value ?? assert.fail()).dispatch(10)
  assert.deepEqual(sent, [5, 6])
})

test('the connection that has been idle longest is next, so that all are used alike; not one that is closed', () => {
  const options = { target: { socketPath: '/s' }, method: 'GET', template: new ResponseTemplate() }
  const never = () => assert.fail()
  const owner = { opened: never, responded: never, failed: never }
  const pool = new Pool({ ...options, connections: 3, fresh: false }, owner)
  const [one, two, three] = [true, false, true].map((isFree) => ({ isFree }) as Connection)
  for (const connection of [one, two, three]) pool.release(connection as Connection)
  assert.deepEqual([pool.take(), pool.take(), pool.take()], [one, three, undefined])
})

test('arrivals are a Poisson process: gaps are exponential and independent, and the seed decides', () => {
  const count = 200_000
  const drawn = (seed: number, length: number) => {
    const times = Array.from({ length }, poisson(500, createRandom(seed)))
    return times.map((time, n) => time - (times[n - 1] ?? 0))
  }
  const gaps = drawn(1, count)
  // P(gap > t) = exp(−t / mean), at several t, with a mean of 2 ms; three standard errors: the seed is fixed.
  assert.ok(Math.abs(mean(gaps) - 2) < 3 * (2 / Math.sqrt(count)), `mean ${mean(gaps)}`)
  for (const t of [0.2, 2, 6]) {
    const expected = Math.exp(-t / 2)
    const found = gaps.filter((gap) => gap > t).length / count
    const error = Math.sqrt((expected * (1 - expected)) / count)
    assert.ok(Math.abs(found - expected) < 3 * error, `${found} of the gaps exceed ${t} ms, not ${expected}`)
  }
  // The variance of a gap is 4.
  const products = gaps.slice(1).map((gap, n) => (gap - 2) * ((gaps[n] ?? 0) - 2))
  assert.ok(Math.abs(mean(products) / 4) < 5 / Math.sqrt(count), 'no autocorrelation')
  assert.deepEqual(drawn(5, 100), drawn(5, 100))
  assert.notDeepEqual(drawn(5, 100), drawn(6, 100))
})
