import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Disturbance } from '@startgrid/machine/accounts/sample.ts'
import type { GateResult } from '../../model/figures.ts'
import { type Evidence, type JudgedSlice, passed, unknown } from './evidence.ts'

/** Part of the time that others may take, or make us wait for. Less is noise like any other, which passes and launches average out. */
const TAKEN_ABOVE = 0.2

/**
 * Whether others visibly took a stretch of load, so that it does not count. Only what the kernel says of others decides, never what was
 * measured. What it does not say takes nothing.
 */
export function isTaken(disturbance: Disturbance): boolean {
  return isTakenPart(worstPart(disturbance))
}

/** @param part 0 to 1, of the time */
export function isTakenPart(part: number): boolean {
  return part > TAKEN_ABOVE
}

/** What counts: all that others did not take; everything if less than half would remain. */
export function keepQuiet<One>(
  measured: readonly One[],
  isQuiet: (one: One) => boolean,
): { kept: readonly One[]; crowded: boolean } {
  const quiet = measured.filter(isQuiet)
  const crowded = quiet.length < measured.length / 2
  return { kept: crowded ? measured : quiet, crowded }
}

/** What others visibly took of the machine. No cell is void for that: slices are left out, or intervals are wider. */
export function judgeInterference({ launches, crowded }: Pick<Evidence, 'launches' | 'crowded'>): GateResult {
  const measured = launches.map((slices) => slices.filter(({ phase }) => phase === 'measure'))
  const slices = measured.flat()
  if (slices.length === 0) return unknown('interference', 'nothing was measured')
  if (slices.every(({ disturbance }) => isSilent(disturbance)))
    return unknown('interference', 'this system does not say what others used')
  const heats = measured.filter(({ length }) => length > 0).length
  return passed('interference', describe(slices, crowded, heats))
}

function describe(slices: readonly JudgedSlice[], crowded: number, heats: number): string {
  const disturbed = slices.filter((slice) => slice.disturbed)
  if (disturbed.length === 0) {
    const most = Math.max(...slices.map(({ disturbance }) => worstPart(disturbance)))
    const where = slices.every(isServerUnknown)
      ? ' from the generator; what they took from the server is not known'
      : ''
    return `others took at most ${formatPercent(most)} of any slice${where}`
  }
  const found = `others disturbed ${disturbed.length} of ${plural(slices.length, 'slice')}`
  return crowded === 0 ? found : `${found}; in ${crowded} of ${plural(heats, 'heat')} all slices count`
}

/** Nothing is known of a server elsewhere. */
function isServerUnknown({ disturbance }: JudgedSlice): boolean {
  return disturbance.serverWait === null && disturbance.serverForeign === null
}

function worstPart(disturbance: Disturbance): number {
  return Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
}

function isSilent(disturbance: Disturbance): boolean {
  return Object.values(disturbance).every((part) => part === null)
}
