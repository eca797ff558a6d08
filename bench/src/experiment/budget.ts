import type { Cell } from '../result/cell.ts'
import type { Settings } from '../result/settings.ts'
import { expectedHeatMs } from './cells.ts'

/** How many heats fit into the time of a run, before it begins. All times are in milliseconds. */

/** Fewer launches give no interval. */
export const LEAST_HEATS = 2

export const MOST_HEATS = 100

/** The search for NGINX, and a look at the machine. */
const PREPARATION_MS = 8000

/** Stopping the last servers, and the reports. */
export const ENDING_MS = 2000

interface Plan {
  cells: readonly Cell[]
  settings: Pick<Settings, 'slices' | 'sliceMs' | 'openLoop' | 'heats'>
}

/** The heats of every role that fit, at least 2 and at most 100, if nothing slows the machine. */
export function heatsWithin(timeMs: number, plan: Plan): number {
  const fit = Math.floor((timeMs - PREPARATION_MS - ENDING_MS) / roundMs(plan))
  return Math.min(MOST_HEATS, Math.max(LEAST_HEATS, fit))
}

/** The shortest time for two heats of every role. */
export function leastTimeMs(plan: Plan): number {
  return PREPARATION_MS + ENDING_MS + LEAST_HEATS * roundMs(plan)
}

/** One heat of every role. */
function roundMs({ cells, settings }: Plan): number {
  const roles = [...Map.groupBy(cells, ({ role }) => role).values()]
  return roles.reduce((sum, own) => sum + expectedHeatMs(own, settings), 0)
}
