import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
  JsHistogram,
} from 'hdr-histogram-js'
import { HIGHEST_NS, type Recording, valueAt } from '../engine/recorder.ts'
import type { Latency } from './result.ts'

const DIGITS = 3
const NANOSECONDS = 1e6

/** The histogram that any HdrHistogram library can read: V2, compressed, base64; values in nanoseconds. */
export function encodeRecording(recording: Recording): string {
  return encodeIntoCompressedBase64(histogramOf(recording))
}

/** Mean, least and largest are exact; percentiles are within 0.1 %. Milliseconds; all 0 if nothing was recorded. */
export function summarise(recording: Recording): Latency {
  const { sum, count, min, max } = recording
  if (count === 0) return { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0, min: 0 }
  const histogram = histogramOf(recording)
  const at = (percent: number) => Math.min(histogram.getValueAtPercentile(percent) / NANOSECONDS, max)
  return { mean: sum / count, p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max, min }
}

/** One histogram of all values of several. @param encoded each as `LoadResult.histograms` has it; at least one */
export function mergeHistograms(encoded: readonly string[]): string {
  const merged = emptyHistogram()
  for (const text of encoded) merged.add(decode(text))
  return encodeIntoCompressedBase64(merged)
}

/**
 * Values at percentiles, in milliseconds: the largest of the histogram's cell, at most 0.1 % above what was recorded; 0 of an empty
 * histogram.
 * @param percents 0 to 100
 */
export function percentiles(encoded: string, percents: readonly number[]): number[] {
  const histogram = decode(encoded)
  return percents.map((percent) => histogram.getValueAtPercentile(percent) / NANOSECONDS)
}

/** Which values were recorded, in milliseconds, and how often; the smallest first. */
export function countsOf(encoded: string): { ms: number; count: number }[] {
  const { recordedValuesIterator: cells } = decode(encoded)
  cells.reset()
  const counts: { ms: number; count: number }[] = []
  while (cells.hasNext()) {
    const { valueIteratedTo, countAtValueIteratedTo } = cells.next()
    counts.push({ ms: valueIteratedTo / NANOSECONDS, count: countAtValueIteratedTo })
  }
  return counts
}

/** @throws {Error} if the text is not such a histogram */
function decode(encoded: string): JsHistogram {
  return ours(decodeFromCompressedBase64(encoded, 64))
}

function histogramOf({ cells }: Recording): JsHistogram {
  const histogram = emptyHistogram()
  for (const [place, count] of cells) histogram.recordValueWithCount(valueAt(place), count)
  return histogram
}

function emptyHistogram(): JsHistogram {
  return ours(
    build({
      bitBucketSize: 64,
      lowestDiscernibleValue: 1,
      highestTrackableValue: HIGHEST_NS,
      numberOfSignificantValueDigits: DIGITS,
    }),
  )
}

/** The library types its histograms so that WebAssembly ones fit as well, which are never asked for here. */
function ours(histogram: Histogram): JsHistogram {
  if (histogram instanceof JsHistogram) return histogram
  throw new TypeError('not a histogram in JavaScript')
}
