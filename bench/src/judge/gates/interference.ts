import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Disturbance } from '@startgrid/machine/accounts/sample.ts'
import type { GateResult } from '../../model/figures.ts'
import type { Slice } from '../../model/result.ts'
import { counts } from '../analysis/record.ts'
import type { Evidence } from './evidence.ts'
import { failed, passed, unknown } from './verdict.ts'

/** Part of a slice's time that others may take, or make us wait for. */
export const DISTURBED_ABOVE = 0.05

/** Fewer launches give no interval. */
const LEAST_LAUNCHES = 2

/**
 * Whether others disturbed a stretch of load so much that it must be measured again. Only what the kernel says of others decides,
 * never what was measured; what it does not say disturbs nobody.
 */
export function isDisturbed(disturbance: Disturbance): boolean {
  return worstPart(disturbance) > DISTURBED_ABOVE
}

/**
 * The machine was ours: of the launches that were measured at least two, and at least half, have a slice that nobody disturbed. (Of a
 * single launch, that one.)
 */
export function judgeInterference({ launches }: Pick<Evidence, 'launches'>): GateResult {
  const measured = launches
    .map((slices) => slices.filter(({ phase }) => phase === 'measure'))
    .filter((slices) => slices.length > 0)
  const slices = measured.flat()
  if (slices.length === 0) return unknown('interference', 'nothing was measured')
  if (slices.every(({ disturbance }) => isSilent(disturbance)))
    return unknown('interference', 'this system does not say what others used')
  const left = measured.filter((own) => own.some(counts))
  const finding = describe(slices, left.length, measured.length)
  const needed = Math.max(Math.min(LEAST_LAUNCHES, measured.length), measured.length / 2)
  if (left.length >= needed) return passed('interference', finding)
  return failed(
    'interference',
    finding,
    'Close other programs, or wait until they are done, and measure again.',
  )
}

function describe(slices: readonly Slice[], left: number, launches: number): string {
  const disturbed = slices.filter((slice) => slice.disturbed)
  if (disturbed.length === 0) {
    const most = Math.max(...slices.map(({ disturbance }) => worstPart(disturbance)))
    const where = slices.every(isServerUnknown)
      ? ' from the generator; what they took from the server is not known'
      : ''
    return `others took at most ${formatPercent(most)} of any slice${where}`
  }
  const found = `others disturbed ${disturbed.length} of ${plural(slices.length, 'slice')}`
  return left === launches ? found : `${found}, which leaves ${left} of ${plural(launches, 'heat')}`
}

/** Nothing is known of a server elsewhere. */
function isServerUnknown({ disturbance }: Slice): boolean {
  return disturbance.serverWait === null && disturbance.serverForeign === null
}

function worstPart(disturbance: Disturbance): number {
  return Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
}

function isSilent(disturbance: Disturbance): boolean {
  return Object.values(disturbance).every((part) => part === null)
}
