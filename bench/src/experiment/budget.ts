import type { Cell } from '../model/cell.ts'
import type { Settings } from '../model/settings.ts'
import { expectedHeatMs } from './cells.ts'
import { openLoopsMs } from './open-loop.ts'

/** How the heats of a run share its time. All times are in milliseconds. */

/** Fewer launches give no interval, so these are shortened and not dropped. */
export const LEAST_HEATS = 2

/** Of a heat that is shortened: fewer passes say too little. */
export const SHORTENED_PASSES = 5

/** The search for NGINX, and a look at the machine. */
export const PREPARATION_MS = 8000

/** The last pass of the last heat, stopping its servers, and the reports. */
export const ENDING_MS = 2000

const MOST_HEATS = 100

/** A heat that has not begun. */
export interface OpenHeat {
  heat: number
  /** With all its passes, with half of them, and with the fewest. */
  fullMs: number
  halfMs: number
  shortMs: number
}

/** A third heat narrows intervals more than passes do. On a slow machine, roles with 2 heats had medians of ±7 to ±97 %, with 3 heats ±10 to ±23 %. */
export const FEW_HEATS = 3

/**
 * The heats that will be run, in their order: the first two of each role, those up to `few` if a few passes of each fit, and others while half
 * of their passes fit.
 * @param open heats that remain, in their order
 */
export function heatsThatFit<Open extends OpenHeat>(
  open: readonly Open[],
  leftMs: number,
  few: number = FEW_HEATS,
): Open[] {
  const spent = { halfMs: 0, shortMs: 0 }
  const end = open.findIndex(({ heat, halfMs, shortMs }) => {
    spent.halfMs += halfMs
    spent.shortMs += shortMs
    return heat > LEAST_HEATS && (heat > few ? spent.halfMs : spent.shortMs) > leftMs
  })
  return end < 0 ? [...open] : open.slice(0, end)
}

/** What the first of these heats may take: all share the time that is left. */
export function shareOf(heats: readonly OpenHeat[], leftMs: number): number {
  const total = heats.reduce((sum, { fullMs }) => sum + fullMs, 0)
  return total === 0 ? leftMs : (leftMs * (heats[0]?.fullMs ?? 0)) / total
}

interface Plan {
  cells: readonly Cell[]
  settings: Pick<Settings, 'slices' | 'sliceMs' | 'openLoop' | 'heats'>
}

/** A run that lacks a quarter of a heat takes a few passes less in each. */
const TOLERANCE = 0.25

/**
 * The heats of every role that fit into the time, if nothing slows the machine: at least 2, at most 100. A third one is worth more than all
 * passes.
 */
export function heatsWithin(maxTimeMs: number, plan: Plan): number {
  const leftMs = maxTimeMs - PREPARATION_MS - ENDING_MS
  const fit = Math.floor(leftMs / roundMs(plan, plan.settings.slices) + TOLERANCE)
  const third = FEW_HEATS * roundMs(plan, fewestPasses(plan)) <= leftMs ? FEW_HEATS : LEAST_HEATS
  return Math.min(MOST_HEATS, Math.max(third, fit))
}

/** The passes of each heat for which there is time: fewer than planned if many frameworks take part. */
export function passesWithin(maxTimeMs: number, plan: Plan, heats: number): number {
  const perHeatMs = (maxTimeMs - PREPARATION_MS - ENDING_MS) / heats
  let passes = plan.settings.slices
  while (passes > fewestPasses(plan) && roundMs(plan, passes) > perHeatMs) passes -= 1
  return passes
}

/** The shortest time for two heats of every role. */
export function leastTimeMs(plan: Plan): number {
  return PREPARATION_MS + ENDING_MS + LEAST_HEATS * roundMs(plan, fewestPasses(plan))
}

function fewestPasses({ settings }: Plan): number {
  return Math.min(settings.slices, SHORTENED_PASSES)
}

/**
 * For how many of the planned passes a longer warm-up leaves time. All of them, unless the machine is slower than that of reference: it serves fewer
 * requests in the same warm-up, and a few passes of warm servers are worth more than many of cold ones.
 * @param slowness as of `expectedHeatMs`
 */
export function keptPasses(slices: number, slowness: number): number {
  return Math.max(Math.min(slices, SHORTENED_PASSES), slices * Math.max(0.5, 1 / slowness))
}

/** One heat of every role. */
function roundMs({ cells, settings }: Plan, slices: number): number {
  const roles = [...Map.groupBy(cells, ({ role }) => role).values()]
  return roles.reduce(
    (sum, own) => sum + expectedHeatMs(own, { ...settings, slices }) + openLoopsMs(own, settings),
    0,
  )
}
