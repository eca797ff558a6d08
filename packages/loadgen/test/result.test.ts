import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report } from '../src/cli.ts'
import { countsOf, Recorder, type Recording } from '../src/recording.ts'
import { type Arrivals, type Measurement, noErrors, summarizeLoad } from '../src/result.ts'

function recording(...milliseconds: number[]): Recording {
  const recorder = new Recorder()
  for (const value of milliseconds) recorder.record(value)
  return recorder.recording()
}

const QUICK: Measurement = {
  requests: 20_000,
  seconds: 1,
  bytes: 1_600_000,
  checked: 1,
  errors: { ...noErrors(), status: 1 },
  statuses: { 200: 19_999, 500: 1 },
  handshakes: {},
  latency: recording(1, 2, 3),
  arrivals: { seconds: 1, due: 3, sent: 3, late: 0, lag: recording(0, 0, 0), service: recording(1, 1, 1) },
  loop: { busy: 0.2, waitSeconds: 0.1 },
}

const SLOW: Measurement = {
  ...QUICK,
  requests: 2_000,
  seconds: 2,
  errors: { ...noErrors(), timeout: 2 },
  statuses: { 200: 2_000 },
  latency: recording(60),
  arrivals: { seconds: 1, due: 4, sent: 2, late: 1, lag: recording(0, 50, 50, 50), service: recording(9) },
  loop: { busy: 0.9, waitSeconds: 0.3 },
}

test('generators add up, and a slow one does not hide in the sum', () => {
  const result = summarizeLoad([QUICK, SLOW])
  assert.deepEqual([result.requests, result.seconds, result.rate], [22_000, 2, 11_000])
  assert.deepEqual(result.errors, { ...noErrors(), status: 1, timeout: 2 })
  assert.deepEqual(result.statuses, { 200: 21_999, 500: 1 })
  assert.deepEqual([result.bytes, result.checked], [3_200_000, 2])
  assert.equal(result.latency.mean, 66 / 4)
  assert.equal(result.service.max, 9)
  assert.equal(result.lag?.mean, 150 / 7)
  assert.deepEqual(result.openLoop, { offered: 7, achieved: 5 })
  assert.equal(countsOf(result.histograms.latency).at(-1)?.ms.toFixed(0), '60')
  const { bound, reason, waitSeconds, busy } = result.self
  assert.match(reason ?? '', /^it came to 25 % of the requests/)
  assert.deepEqual([bound, waitSeconds, busy], [true, 0.4, 0.9])
})

/** Of a sound load of 10,000 requests, but for what is given; the waits are in milliseconds. */
function why(given: Partial<Arrivals> & { waits?: [lag: number, latency: number]; loop?: object }): string {
  const { waits: [lagMs, latencyMs] = [0.01, 1], loop, ...more } = given
  const [latency, lag] = [recording(latencyMs), recording(lagMs)]
  const arrivals = { seconds: 1, due: 10_000, sent: 10_000, late: 0, lag, service: latency, ...more }
  const { self } = summarizeLoad([
    { ...QUICK, latency, arrivals, loop: { busy: 0.3, waitSeconds: 0, ...loop } },
  ])
  return self.reason ?? 'not bound'
}

test('a generator is the limit if it came late, or had no time to read responses; not if the server let it wait', () => {
  assert.equal(why({}), 'not bound')
  // One in a hundred is forgiven, and so is that no connection was free.
  assert.equal(why({ sent: 9_900, late: 100, loop: { busy: 1 } }), 'not bound')
  assert.equal(why({ sent: 5_000, loop: { busy: 0.9 }, waits: [0, 800] }), 'not bound')
  assert.match(why({ sent: 9_899, late: 101 }), /^it came to 1\.0 % of the requests only after/)
  assert.match(why({ sent: 9_899, loop: { busy: 0.98 } }), /^it sent only 99 % .* busy for 98 %/)
  // Lag matters above 1 ms and a tenth of the latency.
  assert.equal(why({ waits: [0.9, 1] }), 'not bound')
  assert.equal(why({ waits: [2, 50] }), 'not bound')
  const late = 'it was late by 2.00 ms at p99, where the latency is 10.0 ms'
  const waited = (waitSeconds: number | null) => why({ waits: [2, 10], loop: { waitSeconds } })
  assert.equal(waited(0.25), `${late}; it waited 0.25 s for a core that others used`)
  assert.deepEqual([waited(0.001), waited(null)], [late, late])
})

test('the report of an open loop', () => {
  assert.equal(
    report(summarizeLoad([QUICK, SLOW])),
    `  rate        11,000 responses per second
  offered     7 per second, achieved 5 (71.4 %)
  requests    22,000 in 2.00 s
  errors      timeout: 2, status: 1
  statuses    200: 21,999, 500: 1
  received    3.2 MB
  generator   busy 90 %, 0.40 s without a core

  ms           mean    p50   p90   p99  p99.9   max
  corrected    16.5   2.00  60.0  60.0   60.0  60.0
  service      3.00   1.00  9.00  9.00   9.00  9.00
  lag          21.4  0.000  50.0  50.0   50.0  50.0

generator-bound: it came to 25 % of the requests only after the time in which
they were due; it waited 0.30 s for a core that others used.
`,
  )
})

test('a closed loop has no schedule; its report says when the generator may be the limit, and what went wrong', () => {
  const closed = { ...QUICK, arrivals: null, loop: { busy: 0.97, waitSeconds: null } }
  const result = summarizeLoad([{ ...closed, errors: noErrors() }])
  assert.deepEqual(result.service, result.latency)
  assert.deepEqual([result.lag, result.histograms.lag, result.openLoop], [null, null, null])
  assert.deepEqual(result.self, { ...closed.loop, bound: false, reason: null })
  const text = report(result)
  assert.doesNotMatch(text, /corrected|service|lag|offered|without a core/)
  assert.match(text, /\n {2}errors {6}none\n/)
  assert.match(text, /\n {2}latency {6}2\.00 /)
  assert.match(text, /busy 97 %\n {14}it may be the limit, not the server\n/)
  const errors = { ...noErrors(), reset: 3, connect: 1_000 }
  const nothing = report(summarizeLoad([{ ...closed, requests: 0, statuses: {}, errors }]))
  assert.match(nothing, /\n {2}errors {6}connect: 1,000, reset: 3\n {2}statuses {4}none\n/)
  assert.match(nothing, /\n {2}latency {5}no response\n/)
})
