import { Recorder, type Recording } from './recorder.ts'

/** What happened in one interval of a load. */
export interface Interval {
  /** From 0: the n-th interval since the warm-up ended. */
  index: number
  latency: Recording
  errors: number
}

/** Responses and errors by the interval in which they came. Times are `performance.now()`. */
export class Series {
  readonly #intervalMs: number
  readonly #latency = new Recorder()
  readonly #intervals: Interval[] = []
  #from = 0
  #index = 0
  #errors = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** The first interval begins. */
  begin(now: number): void {
    this.#from = now
  }

  responded(now: number, latencyMs: number, isError: boolean): void {
    this.#moveTo(now)
    this.#latency.record(latencyMs)
    if (isError) this.#errors++
  }

  failed(now: number): void {
    this.#moveTo(now)
    this.#errors++
  }

  /** The intervals in which anything came. */
  intervals(): Interval[] {
    this.#flush()
    return this.#intervals
  }

  #moveTo(now: number): void {
    const index = Math.max(0, Math.floor((now - this.#from) / this.#intervalMs))
    if (index <= this.#index) return
    this.#flush()
    this.#index = index
  }

  #flush(): void {
    if (this.#latency.count === 0 && this.#errors === 0) return
    this.#intervals.push({ index: this.#index, latency: this.#latency.recording(), errors: this.#errors })
    this.#latency.clear()
    this.#errors = 0
  }
}
