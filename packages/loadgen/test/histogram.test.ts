import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recorder } from '../src/engine/recorder.ts'
import { encodeRecording, mergeHistograms, percentiles, summarise } from '../src/report/histogram.ts'

function encode(values: Iterable<number>): string {
  const recorder = new Recorder()
  for (const value of values) recorder.record(value)
  return encodeRecording(recorder.recording())
}

/** 1 to 1000 ms. */
const THOUSAND = Array.from({ length: 1_000 }, (_, n) => n + 1)

function assertClose(actual: number | undefined, expected: number): void {
  assert.ok(
    actual !== undefined && Math.abs(actual / expected - 1) <= 0.001,
    `${actual} instead of ${expected}`,
  )
}

test('percentiles are the values that so many do not exceed', () => {
  const found = percentiles(encode(THOUSAND), [0.1, 50, 90, 99, 99.9, 100])
  ;[1, 500, 900, 990, 999, 1_000].forEach((expected, n) => {
    assertClose(found[n], expected)
  })
})

test('merged histograms are the histogram of all values', () => {
  const parts = [THOUSAND.slice(0, 10), THOUSAND.slice(10, 800), THOUSAND.slice(800), []]
  assert.equal(mergeHistograms(parts.map(encode)), encode(THOUSAND))
})

test('nothing recorded', () => {
  const none = encode([])
  assert.deepEqual(percentiles(none, [50, 100]), [0, 0])
  assert.deepEqual(summarise(new Recorder().recording()), {
    ...{ mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0, min: 0 },
  })
})

test('a summary has exact mean and extremes, and no percentile above the largest', () => {
  const recorder = new Recorder()
  for (const value of THOUSAND) recorder.record(value + 0.000_4)
  const { mean, min, max, p50, p999 } = summarise(recorder.recording())
  assertClose(mean, 500.5004)
  assert.deepEqual([min, max], [1.0004, 1_000.0004])
  assertClose(p50, 500)
  assert.ok(p999 <= max)
})

test('a text that is not a histogram is refused', () => {
  assert.throws(() => percentiles('bm9uZQ==', [50]))
})
