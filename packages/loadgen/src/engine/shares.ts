import type { LoadPlan } from './options.ts'

/** One generator's part of a load. */
export interface Share {
  /** With this generator's part of connections, rate and requests, and a seed of its own. */
  plan: LoadPlan
  /** Milliseconds by which a constant rate begins later, so that the generators take turns. */
  firstMs: number
}

/** Shares a load among generators: whole connections and requests as evenly as they can be, the rate exactly. */
export function shareOut(plan: LoadPlan, generators: number): Share[] {
  const { connections, requests, rate, seed = 1 } = plan
  return Array.from({ length: generators }, (_, n) => ({
    plan: {
      ...plan,
      connections: part(connections, n, generators),
      ...(requests !== undefined && { requests: part(requests, n, generators) }),
      ...(rate !== undefined && { rate: rate / generators }),
      seed: (seed + n) % 2 ** 32,
    },
    firstMs: rate === undefined ? 0 : (n * 1000) / rate,
  }))
}

/** The n-th of so many parts of a whole number, which differ by 1 at most. */
function part(whole: number, n: number, parts: number): number {
  return Math.floor(whole / parts) + (n < whole % parts ? 1 : 0)
}
