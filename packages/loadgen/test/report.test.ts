import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report, title } from '../src/report/report.ts'
import { type LoadResult, noErrors } from '../src/report/result.ts'

const LATENCY = { mean: 1.5, p50: 1, p90: 2, p99: 12.34, p999: 1_234.5, max: 4_000, min: 0.04 }

const RESULT: LoadResult = {
  requests: 20_000,
  seconds: 1,
  rate: 20_000,
  errors: noErrors(),
  bytes: 3_200_000,
  checked: 200,
  statuses: { 200: 20_000 },
  handshakes: {},
  latency: LATENCY,
  service: { ...LATENCY, max: 15 },
  lag: { ...LATENCY, p99: 0.0123, max: 0.5 },
  histograms: { latency: '', service: '', lag: '' },
  openLoop: { offered: 20_000, achieved: 19_900 },
  cpu: { seconds: 1 },
  self: { waitSeconds: 0.1, busy: 0.3, bound: false, reason: null },
}

test('an open loop', () => {
  assert.equal(
    report(RESULT),
    `  rate        20,000 responses per second
  offered     20,000 per second, achieved 19,900 (99.5 %)
  requests    20,000 in 1.00 s
  errors      none
  statuses    200: 20,000
  received    3.2 MB
  compared    200 responses
  generator   busy 30 %, 0.10 s without a core

                   mean       p50       p90       p99     p99.9       max
  corrected        1.50      1.00      2.00      12.3     1,235     4,000 ms
  service          1.50      1.00      2.00      12.3     1,235      15.0 ms
  lag              1.50      1.00      2.00     0.012     1,235     0.500 ms
`,
  )
})

test('generator-bound, in words and within 80 columns', () => {
  const reason = 'it was late by 78.1 ms at p99, where the latency is 161 ms; it waited 0.29 s for a core'
  const text = report({ ...RESULT, self: { ...RESULT.self, bound: true, reason } })
  assert.ok(text.replaceAll('\n', ' ').endsWith(` generator-bound: ${reason}. `), text)
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line)
})

test('a closed loop has one latency, and says when the generator may be the limit', () => {
  const closed = { ...RESULT, openLoop: null, lag: null }
  const text = report(closed)
  assert.doesNotMatch(text, /corrected|service|lag|offered|may be the limit/)
  assert.match(text, /\n {2}latency {10}1\.50 /)
  const busy = report({ ...closed, self: { ...RESULT.self, busy: 0.97 } })
  assert.match(busy, /\n {14}it may be the limit, not the server\n/)
})

test('no response, and a system that does not tell', () => {
  const nothing = {
    ...RESULT,
    requests: 0,
    statuses: {},
    errors: { ...noErrors(), reset: 3, connect: 1_000 },
  }
  const text = report({ ...nothing, self: { ...RESULT.self, waitSeconds: null } })
  assert.match(text, /\n {2}errors {6}connect: 1,000, reset: 3\n/)
  assert.match(text, /\n {2}statuses {4}none\n/)
  assert.match(text, /\n {2}latency {5}no response\n/)
  assert.doesNotMatch(text, /without a core/)
})

test('a title says what was loaded, and how', () => {
  const plan = { target: { socketPath: '/s' }, path: '/', connections: 1, durationMs: 500 }
  assert.equal(title('u', plan), 'GET u with 1 connection for 500 ms')
  const several = { ...plan, path: ['/a', '/b', '/c'], connections: 2_000, newConnections: true }
  assert.equal(title('u', several), 'GET u and 2 more with 2,000 new connections for 500 ms')
  const open = { ...plan, method: 'PUT', rate: 5_000, durationMs: 1_500 }
  assert.equal(title('u', open), 'PUT u with 1 connection at 5,000 per second for 1.5 s')
})
