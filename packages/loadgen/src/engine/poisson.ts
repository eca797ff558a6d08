import type { Random } from '@startgrid/stats/random.ts'

/**
 * When requests of many independent users are due: a Poisson process, whose gaps are exponentially distributed and do not depend on each
 * other. Gaps are drawn by inversion, −ln(1 − u) / rate (Devroye 1986, Non-Uniform Random Variate Generation, II.2).
 * @param rate requests per second, on average
 * @param start when the process begins, in milliseconds: the first request is due a gap later
 * @returns what tells when the next one is due
 */
export function poisson(rate: number, random: Random, start = 0): () => number {
  const meanGap = 1000 / rate
  let at = start
  return () => {
    at -= Math.log(1 - random()) * meanGap
    return at
  }
}
