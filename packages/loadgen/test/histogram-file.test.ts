import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HistogramLogReader, listTags } from 'hdr-histogram-js'
import { LoadError } from '../src/engine/load-error.ts'
import { Recorder } from '../src/engine/recorder.ts'
import { encodeRecording } from '../src/report/histogram.ts'
import { histogramFile } from '../src/report/histogram-file.ts'
import type { LoadResult } from '../src/report/result.ts'

function encode(...milliseconds: number[]): string {
  const recorder = new Recorder()
  for (const value of milliseconds) recorder.record(value)
  return encodeRecording(recorder.recording())
}

function result(histograms: LoadResult['histograms']): Pick<LoadResult, 'histograms' | 'seconds'> {
  return { histograms, seconds: 2.5 }
}

const STARTED_AT = 1_795_240_000_123

test('a log is read back, tag by tag', () => {
  const histograms = { latency: encode(5, 60), service: encode(1, 2), lag: encode(0.01) }
  const text = histogramFile('x.hlog', result(histograms), STARTED_AT)
  assert.deepEqual(listTags(text), ['latency', 'service', 'lag'])
  const reader = new HistogramLogReader(text, 64)
  for (const [tag, highest, count] of [
    ['latency', 60, 2],
    ['service', 2, 2],
    ['lag', 0.01, 1],
  ] as const) {
    const histogram = reader.nextIntervalHistogram()
    assert.equal(histogram?.tag, tag)
    assert.equal(histogram?.totalCount, count)
    assert.ok(Math.abs((histogram?.maxValue ?? 0) / 1e6 / highest - 1) < 0.001)
  }
  assert.equal(reader.nextIntervalHistogram(), null)
  assert.equal(reader.startTimeSec, STARTED_AT / 1_000)
})

test('a log has the lines that its format asks for, and no empty one', () => {
  const text = histogramFile(
    'x.hlog',
    result({ latency: encode(5), service: encode(5), lag: null }),
    STARTED_AT,
  )
  const lines = text.trimEnd().split('\n')
  assert.match(lines[1] ?? '', /^#\[Histogram log format version 1\.3\]$/)
  assert.match(lines[2] ?? '', /^#\[StartTime: 1795240000\.123 \(seconds since epoch\), 2026-11-21T/)
  assert.match(
    lines[3] ?? '',
    /^"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"$/,
  )
  assert.match(lines[4] ?? '', /^Tag=latency,0\.000,2\.500,5\.00\d,HIST[\w+/=]+$/)
  assert.match(lines[5] ?? '', /^Tag=service,/)
  assert.equal(lines.length, 6)
})

test('percentiles as text, in milliseconds', () => {
  const text = histogramFile('x.hgrm', result({ latency: encode(5, 60), service: encode(1), lag: null }), 0)
  assert.match(text, /^ +Value +Percentile TotalCount 1\/\(1-Percentile\)\n/)
  assert.match(text, /\n +5\.00\d +0\.500000000000 +1 /)
  assert.match(text, /#\[Max += +60\.0\d+, Total count +=\s+2\]/)
})

test('another ending is refused', () => {
  assert.throws(() => histogramFile('x.txt', result({ latency: '', service: '', lag: null }), 0), LoadError)
})
