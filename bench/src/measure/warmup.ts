import { mean, median } from '@startgrid/stats/moments.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { coreUse } from '../judge/disturbance.ts'
import type { Slice } from '../result/heat.ts'
import type { Entrant } from './load.ts'

/** Milliseconds of load whose cost is one value. */
export const WINDOW_MS = 250

/** A server that becomes cheaper for longer is not steady. */
const MOST_WINDOWS = 24
/** The last windows: what a warm server costs. */
const LAST = 4
/** Cheaper than the windows before by less than this: steady. */
const STEADY = 0.03
/** A window is warm within this part of the last ones. */
const WARM = 0.07

export const LEAST_WARMUP_MS = 500

/** Of each system, without its start. */
export const LEAST_PILOT_MS = (2 * LAST + 1) * WINDOW_MS

interface Warmup {
  ms: number
  /** Served in that time. */
  requests: number
  steady: boolean
  /** Requests per second of the last windows. */
  rate: number
  /** Of its core, 0 to 1; null where it is not known. */
  coreUse: number | null
}

/**
 * How long systems need to become warm, measured in turns.
 * @param until `performance.now()` when it has to be over, steady or not
 */
export async function learnWarmup<One extends Entrant>(
  entrants: readonly One[],
  until: number,
  measure: (entrant: One) => Promise<Slice>,
): Promise<(One & Warmup)[]> {
  const random = createRandom(1)
  const all = entrants.map((entrant) => ({ entrant, slices: [] as Slice[] }))
  for (let window = 0; window < MOST_WINDOWS; window++) {
    // Each until it is steady: noise makes it rare that all are at once.
    const open = all.filter(({ slices }) => !isSteady(slices.map(costOf)))
    if (open.length === 0 || (window > 0 && performance.now() > until)) break
    for (const { entrant, slices } of shuffle(open, random)) slices.push(await measure(entrant))
  }
  return all.map(({ entrant, slices }) => {
    const costs = slices.map(costOf)
    const warm = median(costs.slice(-LAST))
    const from = costs.findIndex((cost) => cost <= warm * (1 + WARM))
    const last = slices.slice(-LAST)
    const uses = last.map((slice) => {
      const { app } = slice.cpuSeconds
      return app && Math.min(1, coreUse(app, slice, entrant.cell.cores))
    })
    return {
      ...entrant,
      ms: (from + 1) * WINDOW_MS,
      requests: slices.slice(0, from + 1).reduce((sum, slice) => sum + slice.requests, 0),
      steady: isSteady(costs),
      rate: mean(last.map(({ requests, seconds }) => requests / seconds)),
      coreUse: uses.some((use) => use === null) ? null : Math.max(...uses.map((use) => use ?? 0)),
    }
  })
}

/** CPU per request; time per request where the system does not tell. */
function costOf({ cpuSeconds: { app }, seconds, requests }: Slice): number {
  return (app ?? seconds) / Math.max(1, requests)
}

/** At its last two looks, for one may be luck. */
export function isSteady(costs: readonly number[]): boolean {
  return costs.length > 2 * LAST && [costs, costs.slice(0, -1)].every(isLevel)
}

function isLevel(costs: readonly number[]): boolean {
  const before = costs.slice(-2 * LAST, -LAST)
  return median(costs.slice(-LAST)) >= median(before) * (1 - STEADY)
}
