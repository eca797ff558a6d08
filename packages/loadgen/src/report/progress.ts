/** How far a load has come. */
export interface Progress {
  /** Part of warm-up and duration (or of the requests) that is over, 0 to 1. */
  done: number
  warmingUp: boolean
  /** Counted responses so far. */
  requests: number
  /** Counted errors so far. */
  errors: number
}

/** Of several threads: the slowest one's part, and the sums. @param all at least one */
export function sumProgress(all: readonly Progress[]): Progress {
  return {
    done: Math.min(...all.map(({ done }) => done)),
    warmingUp: all.some(({ warmingUp }) => warmingUp),
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
  }
}
