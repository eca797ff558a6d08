import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Disturbance } from '@startgrid/machine/accounts/sample.ts'
import type { GateResult } from '../../model/figures.ts'
import type { Evidence, JudgedSlice } from './evidence.ts'
import { passed, unknown } from './verdict.ts'

/** Part of the time of a long load that others may take, or make us wait for. */
const DISTURBED_ABOVE = 0.05

/** Of a short slice: less than this is noise like any other, which the passes average out. */
const TAKEN_ABOVE = 0.2

/**
 * Whether others disturbed a long stretch of load so much that it must be measured again. Only what the kernel says of others decides,
 * never what was measured; what it does not say disturbs nobody.
 */
export function isDisturbed(disturbance: Disturbance): boolean {
  return worstPart(disturbance) > DISTURBED_ABOVE
}

/** Whether others visibly took a slice, so that it does not count. */
export function isTaken(disturbance: Disturbance): boolean {
  return isTakenPart(worstPart(disturbance))
}

/** Whether others took so much of the time that it does not count. @param part 0 to 1 */
export function isTakenPart(part: number): boolean {
  return part > TAKEN_ABOVE
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
