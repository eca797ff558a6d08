import { createHistogram } from 'node:perf_hooks'
import type { Latency } from './result.ts'

const NANOSECONDS = 1e6

/** Latencies of one load, in Node's own HDR histogram: three significant digits, fixed memory. */
export class LatencyRecorder {
  readonly #histogram: ReturnType<typeof createHistogram>
  #sum = 0
  #max = 0
  #min = Number.POSITIVE_INFINITY
  #count = 0

  /** @param longestMs the largest latency that can be told apart from larger ones */
  constructor(longestMs: number) {
    this.#histogram = createHistogram({ lowest: 1, highest: Math.ceil(longestMs * NANOSECONDS), figures: 3 })
  }

  record(milliseconds: number): void {
    // The histogram counts integers from 1.
    const nanoseconds = Math.max(1, Math.round(milliseconds * NANOSECONDS))
    this.#histogram.record(nanoseconds)
    this.#sum += milliseconds
    this.#count++
    if (milliseconds > this.#max) this.#max = milliseconds
    if (milliseconds < this.#min) this.#min = milliseconds
  }

  /** Mean, least and largest are exact; percentiles are within 0.1 %. */
  summary(): Latency {
    if (this.#count === 0) return { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0, min: 0 }
    return {
      mean: this.#sum / this.#count,
      p50: this.#percentile(50),
      p90: this.#percentile(90),
      p99: this.#percentile(99),
      p999: this.#percentile(99.9),
      max: this.#max,
      min: this.#min,
    }
  }

  #percentile(percent: number): number {
    return Math.min(this.#histogram.percentile(percent) / NANOSECONDS, this.#max)
  }
}
