import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { decodeFromCompressedBase64, encodeIntoCompressedBase64, JsHistogram } from 'hdr-histogram-js'
import {
  countsOf,
  encodeRecording,
  HIGHEST_NS,
  mergeHistograms,
  mergeRecordings,
  placeOf,
  Recorder,
  type Recording,
  summarise,
  valueAt,
} from '../src/recording.ts'

/** Whole numbers from 0 to the highest, evenly on a logarithmic scale, and all where the layout changes. */
function values(): number[] {
  const random = createRandom(4)
  const edges = Array.from({ length: 42 }, (_, bit) => 2 ** bit).flatMap((edge) => [edge - 1, edge, edge + 1])
  const spread = Array.from({ length: 20_000 }, () => Math.floor(HIGHEST_NS ** random()))
  return [...edges.filter((value) => value <= HIGHEST_NS), ...spread, 2 ** 32 + 2 ** 20, HIGHEST_NS]
}

function record(milliseconds: Iterable<number>): Recording {
  const recorder = new Recorder()
  for (const value of milliseconds) recorder.record(value)
  return recorder.recording()
}

test('each value falls into the cell that the library gives it, and all are encoded as it encodes them', () => {
  const histogram = decodeFromCompressedBase64(encodeRecording(record([])), 64)
  assert.ok(histogram instanceof JsHistogram)
  for (const value of values()) {
    const place = placeOf(value)
    assert.equal(place, histogram.countsArrayIndex(value), `${value}`)
    assert.equal(valueAt(place), histogram.lowestEquivalentValue(value), `${value}`)
    assert.ok(value - valueAt(place) <= value / 1_000)
    histogram.recordValue(value)
  }
  const encoded = encodeRecording(record(values().map((value) => value / 1e6)))
  assert.equal(encoded, encodeIntoCompressedBase64(histogram))
})

test('sum, extremes and count are exact; more than an hour is counted as an hour', () => {
  const { cells, ...exact } = record([0.123456789, 5, 2_000, 4_000_000])
  assert.deepEqual(exact, { sum: 4_002_005.123456789, max: 4_000_000, count: 4 })
  assert.equal(cells.get(placeOf(HIGHEST_NS)), 1)
})

test('recordings of several recorders are one recording, and so are their histograms', () => {
  const all = values().map((value) => value / 1e6)
  const parts = [0, 1, 2].map((part) => record(all.filter((_, n) => n % 3 === part)))
  const merged = mergeRecordings([...parts, record([])])
  const expected = record(all)
  assert.deepEqual({ ...merged, sum: 0 }, { ...expected, sum: 0 })
  assert.ok(Math.abs(merged.sum / expected.sum - 1) < 1e-9)
  assert.equal(mergeHistograms(parts.map(encodeRecording)), encodeRecording(expected))
})

test('percentiles are the values that so many do not exceed, and never above the largest; 0 of nothing', () => {
  const recording = record(Array.from({ length: 1_000 }, (_, n) => n + 1.000_4))
  const { mean, max, p50, p90, p99, p999 } = summarise(recording)
  assert.deepEqual([mean.toFixed(4), max], ['500.5004', 1_000.0004])
  for (const [found, expected] of [
    [p50, 500],
    [p90, 900],
    [p99, 990],
    [p999, 999],
  ] as const)
    assert.ok(Math.abs(found / expected - 1) <= 0.001, `${found} instead of ${expected}`)
  const none = record([])
  assert.deepEqual(countsOf(encodeRecording(none)), [])
  assert.deepEqual(summarise(none), { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 })
  assert.throws(() => countsOf('bm9uZQ=='), 'a text that is no histogram')
})
