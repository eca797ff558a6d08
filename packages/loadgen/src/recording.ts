import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
  JsHistogram,
} from 'hdr-histogram-js'

/** Times are kept in whole nanoseconds, up to one hour. */
export const HIGHEST_NS = 3.6e12
/** For three digits: the smallest power of two above 2 × 10^3. */
const SUB_BUCKETS = 2048

const NANOSECONDS = 1e6
const HALF = SUB_BUCKETS / 2
/** The highest bit of a value that needs all sub-buckets of bucket 0. */
const TOP_BIT = Math.log2(HALF)
const WORD = 2 ** 32

/** What was recorded, as plain data. */
export interface Recording {
  /** The HDR histogram's cells that are not empty: counts by place. */
  cells: ReadonlyMap<number, number>
  /** Exact, in milliseconds. */
  sum: number
  max: number
  count: number
}

/**
 * Records times in the cells of an HDR histogram of three digits: http://hdrhistogram.org. `encodeRecording` makes it a histogram of
 * the library, whose `recordValue` takes 60 ns. This takes 2 ns.
 */
export class Recorder {
  readonly #counts = new Uint32Array(placeOf(HIGHEST_NS) + 1)
  #sum = 0
  #max = 0
  #count = 0

  /** @param milliseconds 0 or more; above one hour it is counted as one hour */
  record(milliseconds: number): void {
    const place = placeOf(Math.min(HIGHEST_NS, Math.round(milliseconds * NANOSECONDS)))
    this.#counts[place] = (this.#counts[place] as number) + 1
    this.#sum += milliseconds
    this.#count++
    if (milliseconds > this.#max) this.#max = milliseconds
  }

  /** What was recorded until now. */
  recording(): Recording {
    const cells = new Map<number, number>()
    this.#counts.forEach((count, place) => {
      if (count > 0) cells.set(place, count)
    })
    return { cells, sum: this.#sum, max: this.#max, count: this.#count }
  }
}

/** All that several recorders recorded. */
export function mergeRecordings(recordings: readonly Recording[]): Recording {
  const cells = new Map<number, number>()
  for (const [place, count] of recordings.flatMap((recording) => [...recording.cells]))
    cells.set(place, (cells.get(place) ?? 0) + count)
  return {
    cells,
    sum: recordings.reduce((sum, recording) => sum + recording.sum, 0),
    max: Math.max(0, ...recordings.map(({ max }) => max)),
    count: recordings.reduce((sum, { count }) => sum + count, 0),
  }
}

/**
 * The cell of a value: bucket b holds the values below 2^(b + 11) in steps of 2^b, and only the upper half of bucket b > 0 is used,
 * as the lower half is covered by the buckets before.
 * @param value a whole number from 0 to HIGHEST_NS
 */
export function placeOf(value: number): number {
  // Shifts see 32 bits only. What is cut off here is below the resolution of such values.
  if (value >= WORD) return placeOf(Math.floor(value / 2 ** 20)) + 20 * HALF
  const bucket = Math.max(0, 31 - TOP_BIT - Math.clz32(value))
  return bucket * HALF + (value >>> bucket)
}

/** The least value of a cell. */
export function valueAt(place: number): number {
  if (place < SUB_BUCKETS) return place
  const bucket = Math.floor(place / HALF) - 1
  return ((place % HALF) + HALF) * 2 ** bucket
}

/** Milliseconds. All 0 if nothing got a response. */
export interface Latency {
  mean: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

/** The histogram that any HdrHistogram library can read: V2, compressed, base64; values in nanoseconds. */
export function encodeRecording(recording: Recording): string {
  return encodeIntoCompressedBase64(histogramOf(recording))
}

/** Mean and largest are exact; percentiles are within 0.1 %. Milliseconds; all 0 if nothing was recorded. */
export function summarise(recording: Recording): Latency {
  const { sum, count, max } = recording
  const histogram = histogramOf(recording)
  const at = (percent: number) => Math.min(histogram.getValueAtPercentile(percent) / NANOSECONDS, max)
  return { mean: sum / (count || 1), p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max }
}

/** One histogram of all values of several. @param encoded each as `LoadResult.histograms` has it; at least one */
export function mergeHistograms(encoded: readonly string[]): string {
  const merged = emptyHistogram()
  for (const text of encoded) merged.add(decode(text))
  return encodeIntoCompressedBase64(merged)
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
  const histogram = decodeFromCompressedBase64(encoded, 64)
  // The library types its histograms so that WebAssembly ones fit as well, which are never asked for here.
  if (histogram instanceof JsHistogram) return histogram
  throw new TypeError('not a histogram in JavaScript')
}

function histogramOf({ cells }: Recording): Histogram {
  const histogram = emptyHistogram()
  for (const [place, count] of cells) histogram.recordValueWithCount(valueAt(place), count)
  return histogram
}

function emptyHistogram(): Histogram {
  return build({
    bitBucketSize: 64,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_NS,
    numberOfSignificantValueDigits: 3,
  })
}
