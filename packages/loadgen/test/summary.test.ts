import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Measurement } from '../src/engine/measurement.ts'
import { Recorder, type Recording } from '../src/engine/recorder.ts'
import { percentiles } from '../src/report/histogram.ts'
import { noErrors } from '../src/report/result.ts'
import { summarizeLoad } from '../src/report/summary.ts'

function recording(...milliseconds: number[]): Recording {
  const recorder = new Recorder()
  for (const value of milliseconds) recorder.record(value)
  return recorder.recording()
}

const QUICK: Measurement = {
  requests: 3,
  seconds: 1,
  errors: { ...noErrors(), status: 1 },
  bytes: 30,
  checked: 1,
  statuses: { 200: 2, 500: 1 },
  handshakes: {},
  latency: recording(1, 2, 3),
  service: recording(1, 1, 1),
  arrivals: { seconds: 1, due: 3, sent: 3, late: 0, lag: recording(0, 0, 0) },
  cpuSeconds: 1.5,
  loop: { busy: 0.2, waitSeconds: 0.1 },
}

const SLOW: Measurement = {
  ...QUICK,
  requests: 1,
  seconds: 2,
  errors: { ...noErrors(), timeout: 2 },
  statuses: { 200: 1 },
  latency: recording(60),
  service: recording(9),
  arrivals: { seconds: 1, due: 4, sent: 2, late: 1, lag: recording(0, 50, 50, 50) },
  cpuSeconds: 1.7,
  loop: { busy: 0.9, waitSeconds: 0.3 },
}

test('generators add up', () => {
  const result = summarizeLoad([QUICK, SLOW])
  assert.deepEqual([result.requests, result.seconds, result.rate], [4, 2, 2])
  assert.deepEqual(result.errors, { ...noErrors(), status: 1, timeout: 2 })
  assert.deepEqual(result.statuses, { 200: 3, 500: 1 })
  assert.deepEqual([result.bytes, result.checked], [60, 2])
  assert.equal(result.latency.mean, 66 / 4)
  assert.equal(result.service.max, 9)
  assert.equal(result.lag?.mean, 150 / 7)
  assert.deepEqual(result.openLoop, { offered: 7, achieved: 5 })
  assert.equal(percentiles(result.histograms.latency, [100])[0]?.toFixed(0), '60')
  assert.deepEqual(result.cpu, { seconds: 3.2 })
})

test('a slow generator does not hide in the sum', () => {
  const { self } = summarizeLoad([QUICK, SLOW])
  assert.equal(self.bound, true)
  assert.match(self.reason ?? '', /^in generator 2, it came to 25\.0 % of the requests/)
  assert.deepEqual([self.waitSeconds, self.busy], [0.4, 0.9])
})

test('closed loop: service is latency, and there is no schedule to speak of', () => {
  const closed = { ...QUICK, service: null, arrivals: null, loop: { ...QUICK.loop, waitSeconds: null } }
  const { latency, service, lag, histograms, openLoop, self } = summarizeLoad([closed])
  assert.deepEqual(service, latency)
  assert.deepEqual([lag, histograms.lag, openLoop], [null, null, null])
  assert.equal(histograms.service, histograms.latency)
  assert.deepEqual([self.bound, self.reason, self.waitSeconds], [false, null, null])
})
