import type { Random } from '@startgrid/stats/random.ts'

/** A load model: when each request is due. Times are milliseconds of one clock. */
export interface Pacer {
  /**
   * When the n-th request is due. To be asked in order: 0, 1, 2, …
   * @param free when a connection became free for it
   */
  due(n: number, free: number): number
}

/** A closed loop: a request is due as soon as a connection is free, so the server determines the rate. */
export function closedLoop(): Pacer {
  return { due: (_n, free) => free }
}

/** An open loop with equal distances. @param rate requests per second; @param start when the first one is due */
export function constantRate(rate: number, start = 0): Pacer {
  return { due: (n) => start + (n * 1000) / rate }
}

/**
 * An open loop of many independent users: a Poisson process, whose gaps are exponentially distributed and do not depend on each
 * other. Gaps are drawn by inversion, −ln(1 − u) / rate (Devroye 1986, Non-Uniform Random Variate Generation, II.2).
 * @param rate requests per second, on average; @param start when the process begins: the first one is due a gap later
 */
export function poisson(rate: number, random: Random, start = 0): Pacer {
  const meanGap = 1000 / rate
  let at = start
  return {
    due() {
      at -= Math.log(1 - random()) * meanGap
      return at
    },
  }
}
