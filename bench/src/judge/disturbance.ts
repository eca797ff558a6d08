import type { Disturbance } from '@startgrid/machine/accounts.ts'
import type { Slice } from '../result/heat.ts'
import type { Cell } from '../result/result.ts'

/** What others took while something was measured, and what counts all the same. */

/**
 * If others took more of the servers' core than this part, CPU per request decides. A rate then says how much they left, and its interval
 * was three times as wide in 90 races. Only what the kernel says of others is asked, never what was measured.
 */
export const CPU_DECIDES_ABOVE = 0.12

/** Part of the time that others may take, or make us wait for. Less is noise like any other, which passes and launches average out. */
const TAKEN_ABOVE = 0.2

/**
 * Whether others visibly took a stretch of load, so that it does not count. Only what the kernel says of others decides, never what was
 * measured. What it does not say takes nothing.
 */
export function isTaken(disturbance: Disturbance): boolean {
  return worstPart(disturbance) > TAKEN_ABOVE
}

/** Whether less than half would remain without what others took: then all counts. No cell is void for that: intervals are wider. */
export function isCrowded(measured: readonly Pick<Slice, 'disturbed'>[]): boolean {
  return measured.filter(({ disturbed }) => !disturbed).length < measured.length / 2
}

/** Who took the core is in several accounts. */
function worstPart(disturbance: Disturbance): number {
  return Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
}

/** Part of the cores that it had and that others left to it; it may be a little above 1. */
export function coreUse(
  used: number,
  { seconds, disturbance }: Pick<Slice, 'seconds' | 'disturbance'>,
  { given }: Cell['cores'],
): number {
  return used / (seconds * given * Math.max(0.05, 1 - worstPart(disturbance)))
}

/** Measured, and nobody visibly disturbed it. */
export function isQuiet({ phase, disturbed }: Pick<Slice, 'phase' | 'disturbed'>): boolean {
  return phase === 'measure' && !disturbed
}
