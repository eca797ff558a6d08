import type { LoadPlan } from './options.ts'

/** Shares a load among generators: whole connections as evenly as they can be, the rate exactly. Each part has a seed of its own. */
export function shareOut(plan: LoadPlan, generators: number): LoadPlan[] {
  const { connections, rate, seed = 1 } = plan
  return Array.from({ length: generators }, (_, n) => ({
    ...plan,
    connections: Math.floor(connections / generators) + (n < connections % generators ? 1 : 0),
    ...(rate !== undefined && { rate: rate / generators }),
    seed: (seed + n) % 2 ** 32,
  }))
}
