const FIRST_MS = 100
const LONGEST_MS = 30_000

/** A worker that served for so long was well: its end is an accident, not one more step of a crash loop. */
const WELL_MS = 10_000

/** How long to wait before a worker is replaced: twice as long after each that ended soon. */
export class Backoff {
  #failures = 0

  /**
   * @param servedMs milliseconds for which the worker that ended had listened; 0 if it never did
   * @returns milliseconds, 100 to 30,000
   */
  next(servedMs: number): number {
    if (servedMs >= WELL_MS) this.#failures = 0
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures++)
  }
}
