import type { LoadPlan } from './options.ts'

/** One thread's part of a load. */
export interface Share {
  /** With this thread's part of connections, rate and requests, and a seed of its own. */
  plan: LoadPlan
  /** Milliseconds by which a constant rate begins later, so that the threads take turns. */
  firstMs: number
}

/** Shares a load among its threads: whole connections and requests as evenly as they can be, the rate exactly. */
export function shareOut(plan: LoadPlan): Share[] {
  const { threads = 1, connections, requests, rate, seed = 1 } = plan
  return Array.from({ length: threads }, (_, n) => ({
    plan: {
      ...plan,
      connections: part(connections, n, threads),
      ...(requests !== undefined && { requests: part(requests, n, threads) }),
      ...(rate !== undefined && { rate: rate / threads }),
      seed: (seed + n) % 2 ** 32,
    },
    firstMs: rate === undefined ? 0 : (n * 1000) / rate,
  }))
}

/** The n-th of so many parts of a whole number, which differ by 1 at most. */
function part(whole: number, n: number, parts: number): number {
  return Math.floor(whole / parts) + (n < whole % parts ? 1 : 0)
}
