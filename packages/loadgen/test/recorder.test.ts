import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { build, encodeIntoCompressedBase64, JsHistogram } from 'hdr-histogram-js'
import { HIGHEST_NS, mergeRecordings, placeOf, Recorder, valueAt } from '../src/engine/recorder.ts'
import { encodeRecording } from '../src/report/histogram.ts'

const LIBRARY = {
  bitBucketSize: 64,
  lowestDiscernibleValue: 1,
  highestTrackableValue: HIGHEST_NS,
  numberOfSignificantValueDigits: 3,
} as const

/** Whole numbers from 0 to the highest, evenly on a logarithmic scale, and all where the layout changes. */
function values(): number[] {
  const random = createRandom(4)
  const edges = Array.from({ length: 42 }, (_, bit) => 2 ** bit).flatMap((edge) => [edge - 1, edge, edge + 1])
  const spread = Array.from({ length: 20_000 }, () => Math.floor(HIGHEST_NS ** random()))
  return [
    ...edges.filter((value) => value <= HIGHEST_NS),
    ...spread,
    2047,
    2048,
    2 ** 32 + 2 ** 20,
    HIGHEST_NS,
  ]
}

test('each value falls into the cell that the library gives it', () => {
  const histogram = build(LIBRARY)
  assert.ok(histogram instanceof JsHistogram)
  for (const value of values()) {
    const place = placeOf(value)
    assert.equal(place, histogram.countsArrayIndex(value), `${value}`)
    assert.equal(valueAt(place), histogram.lowestEquivalentValue(value), `${value}`)
    assert.ok(value - valueAt(place) <= value / 1_000)
  }
})

test('what is recorded is encoded as the library encodes it', () => {
  const recorder = new Recorder()
  const histogram = build(LIBRARY)
  for (const value of values()) {
    recorder.record(value / 1e6)
    histogram.recordValue(value)
  }
  assert.equal(encodeRecording(recorder.recording()), encodeIntoCompressedBase64(histogram))
})

test('sum, extremes and count are exact', () => {
  const recorder = new Recorder()
  assert.deepEqual(recorder.recording(), {
    places: new Uint32Array(),
    counts: new Float64Array(),
    sum: 0,
    max: 0,
    min: Number.POSITIVE_INFINITY,
    count: 0,
  })
  for (const value of [0.123456789, 5, 2_000]) recorder.record(value)
  recorder.record(1, 10)
  const { sum, max, min, count } = recorder.recording()
  assert.deepEqual(
    { sum, max, min, count },
    { sum: 2_015.123456789, max: 2_000, min: 0.123456789, count: 13 },
  )
})

test('more than an hour is counted as an hour, and known as what it is', () => {
  const recorder = new Recorder()
  recorder.record(4_000_000)
  const { places, max } = recorder.recording()
  assert.deepEqual([...places], [placeOf(HIGHEST_NS)])
  assert.equal(max, 4_000_000)
})

test('recordings of several recorders are one recording', () => {
  const [first, second, both] = [new Recorder(), new Recorder(), new Recorder()]
  values().forEach((value, n) => {
    ;(n % 3 === 0 ? first : second).record(value / 1e6)
    both.record(value / 1e6)
  })
  const merged = mergeRecordings([first, second, new Recorder()].map((recorder) => recorder.recording()))
  const expected = both.recording()
  assert.deepEqual({ ...merged, sum: 0 }, { ...expected, sum: 0 })
  assert.ok(Math.abs(merged.sum / expected.sum - 1) < 1e-9)
})
