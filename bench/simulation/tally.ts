import type { Interval } from '@startgrid/stats/estimate.ts'

/** How often intervals held what they promise, and how wide they were. */
export class Tally {
  #covered = 0
  #count = 0
  readonly #halfWidths: number[] = []

  /** @param truth a ratio or a value, as the interval's */
  add({ low, high }: Interval, truth: number): void {
    if (low === null || high === null) return
    this.#count += 1
    if (low <= truth && truth <= high) this.#covered += 1
    this.#halfWidths.push(Math.log(high / low) / 2)
  }

  /** Part of the intervals that held the truth; NaN without any. */
  get coverage(): number {
    return this.#covered / this.#count
  }

  /** Half-width of the logarithm that this part of the intervals keeps within. */
  halfWidth(part: number): number {
    const sorted = this.#halfWidths.toSorted((a, b) => a - b)
    return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN
  }
}

/** How often something happened. */
export class Share {
  #happened = 0
  #count = 0

  add(happened: boolean): void {
    this.#count += 1
    if (happened) this.#happened += 1
  }

  /** NaN if it was never asked. */
  get part(): number {
    return this.#happened / this.#count
  }
}
