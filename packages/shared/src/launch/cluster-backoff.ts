const FIRST_MS = 100
const LONGEST_MS = 30_000

/** A worker that served for this long was healthy: its end is an accident, not part of a crash loop. */
const WELL_MS = 10_000

/** How long to wait before a worker is replaced. The wait doubles after each worker that ended soon. */
export class Backoff {
  #failures = 0

  /**
   * @param servedMs milliseconds for which the ended worker had listened; 0 if it never did
   * @returns milliseconds, 100 to 30,000
   */
  next(servedMs: number): number {
    if (servedMs >= WELL_MS) this.#failures = 0
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures++)
  }
}
