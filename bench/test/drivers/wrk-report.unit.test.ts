import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LoadError } from '@startgrid/loadgen'
import { type Bucket, parseWrk, undoCorrection } from '../../src/drivers/wrk.ts'

/** What wrk 4.1.0 with wrk.lua printed, two connections: responses after 50 ms, every tenth after 400 ms. */
const STALLS = `ready
Running 1s test @ http://127.0.0.1:18735/stall
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   104.42ms  105.64ms 400.74ms   83.33%
    Req/Sec    25.45      8.20    40.00     81.82%
  28 requests in 1.10s, 3.39KB read
Requests/sec:     25.45
Transfer/sec:      3.08KB
{"microseconds":1100253,"requests":28,"cpuSeconds":0.006319,"errors":{"connect":0,"read":0,"write":0,"status":0,"timeout":0},"latency":[[49822,1],[49982,1],[50006,1],[50038,1],[50392,1],[50471,1],[50476,1],[50497,1],[50507,1],[50514,1],[50646,1],[50749,1],[50753,1],[50781,1],[50827,1],[50871,1],[50915,1],[50954,1],[50980,1],[51053,1],[51110,1],[51113,1],[51724,1],[52971,1],[53924,1],[54002,1],[85865,1],[86380,1],[164454,1],[164969,1],[243043,1],[243558,1],[321632,1],[322147,1],[400221,1],[400736,1]]}
`

/** Four connections: responses after 100 ms, every fourth after 1300 ms, of which 1 s is allowed. */
const LATE = `{"microseconds":2005046,"requests":22,"cpuSeconds":0.004882,"errors":{"connect":0,"read":0,"write":0,"status":0,"timeout":4},"latency":[[99665,1],[100458,1],[100608,1],[100632,1],[100645,1],[100676,1],[100678,1],[100682,1],[100709,1],[100732,1],[100746,1],[100917,1],[100954,1],[100983,1],[100984,1],[101597,1],[101603,1],[101609,1]]}`

const NOTHING = `ready
Running 1s test @ http://127.0.0.1:18735/never
  0 requests in 1.00s, 0.00B read
{"microseconds":1002757,"requests":0,"cpuSeconds":0.003811,"errors":{"connect":0,"read":0,"write":0,"status":0,"timeout":0},"latency":[]}
`

/** `stats_correct` of wrk's stats.c, line by line. */
function correct(measured: readonly Bucket[], expected: number): Bucket[] {
  const data = new Map<number, number>(measured)
  const max = Math.max(...data.keys())
  for (let n = expected * 2; n <= max; n++) {
    const count = data.get(n) ?? 0
    for (let m = n - expected; count > 0 && m > expected; m -= expected) {
      data.set(m, (data.get(m) ?? 0) + count)
    }
  }
  return [...data].sort(([a], [b]) => a - b)
}

/** Any fixed sequence of numbers in [0, 1) will do. */
function* numbers(): Generator<number, never> {
  for (let n = 1; ; n++) yield (n * Math.SQRT2 * 1000) % 1
}

describe('the report of wrk', () => {
  test('has the figures of its own text, exactly', () => {
    const report = parseWrk(STALLS, 2)
    assert.equal(report.requests, 28)
    assert.equal(report.seconds, 1.100253)
    assert.equal(report.cpuSeconds, 0.006319)
    assert.deepEqual(report.errors, { connect: 0, reset: 0, timeout: 0, status: 0 })
  })

  test('has latencies without what wrk adds: 26 short and 2 long ones have a mean of 76 ms, not 104', () => {
    const { mean, p50, p99 } = parseWrk(STALLS, 2).latencySeconds
    assert.ok(Math.abs(mean - 0.07597) < 0.00001, `mean ${mean}`)
    assert.equal(p50, 0.050781)
    assert.equal(p99, 0.400736)
  })

  test('names its errors as the others do', () => {
    assert.deepEqual(parseWrk(LATE, 4).errors, { connect: 0, reset: 0, timeout: 4, status: 0 })
    const closed = STALLS.replace(
      '"connect":0,"read":0,"write":0,"status":0',
      '"connect":1,"read":14,"write":2,"status":5',
    )
    assert.deepEqual(parseWrk(closed, 2).errors, { connect: 1, reset: 16, timeout: 0, status: 5 })
  })

  test('is all zero without a response', () => {
    const report = parseWrk(NOTHING, 2)
    assert.equal(report.requests, 0)
    assert.deepEqual(report.latencySeconds, { mean: 0, p50: 0, p99: 0 })
  })

  test('must be there', () => {
    assert.throws(() => parseWrk('Running 1s test\n', 2), LoadError)
  })
})

describe('undoing what wrk adds to latencies', () => {
  test('leaves what was measured', () => {
    const random = numbers()
    for (let round = 0; round < 50; round++) {
      const interval = 5 + Math.floor(random.next().value * 50)
      const measured = new Map<number, number>()
      for (let n = 0; n < 40; n++) {
        const value = 1 + Math.floor(random.next().value ** 3 * 600)
        measured.set(value, (measured.get(value) ?? 0) + 1)
      }
      const before = [...measured].sort(([a], [b]) => a - b)
      // 40 responses on 4 connections, so 10 intervals are the time of the run.
      const run = { microseconds: interval * 10, requests: 40, connections: 4 }
      assert.deepEqual(undoCorrection(correct(before, interval), run), before)
    }
  })

  test('does nothing where wrk does nothing: with fewer responses than connections', () => {
    const buckets: Bucket[] = [
      [100, 1],
      [500, 1],
    ]
    assert.deepEqual(undoCorrection(buckets, { microseconds: 1000, requests: 2, connections: 3 }), buckets)
  })
})
