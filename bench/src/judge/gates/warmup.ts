import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { GateResult } from '../../model/figures.ts'
import { type Evidence, failed, type JudgedSlice, passed, unknown } from './evidence.ts'

/** A slice may end a little early: its clock begins with the first request. */
const SHORTER_BY = 0.05

/**
 * The numbers are those of a warm server. Whether the first slices cost more is tested for all cells of a run together, with an error rate
 * (`findColdCells`). What was cold is left out, and later heats warm up for longer; a cell is void only if it is shown not to become steady, or nothing is left.
 */
export function judgeWarmup({
  cell,
  launches,
  counted,
  cold,
}: Pick<Evidence, 'cell' | 'launches' | 'counted' | 'cold'>): GateResult {
  const measured = launches.filter((slices) => slices.some(({ phase }) => phase === 'measure'))
  if (measured.length === 0) return unknown('warmup', 'nothing was measured')
  const discarded = Math.min(...measured.map(discardedMs))
  if (discarded < cell.warmupMs * (1 - SHORTER_BY)) {
    const finding = `only ${Math.round(discarded)} of ${cell.warmupMs} ms were discarded before measuring`
    return failed('warmup', finding, 'Measure again: it was cut short.')
  }
  const stated = `${Math.round(discarded)} ms were discarded before measuring`
  if (cold === null) return passed('warmup', stated)
  if (cold === undefined) return passed('warmup', `${stated}, and later slices did not cost less`)
  const first = `${stated}; the first slices then cost ${formatPercent(cold.ratio - 1)} more than later ones`
  if (cold.steady && counted.some(({ length }) => length > 0))
    return passed('warmup', `${first}, and do not count`)
  return failed(
    'warmup',
    `${first}, and it did not become steady`,
    `Give it more time, with --warmup ${formatSeconds(2 * discarded)}.`,
  )
}

/** Milliseconds of load on this cell before its first measured slice. */
function discardedMs(slices: readonly JudgedSlice[]): number {
  return slices
    .filter(({ phase }) => phase === 'warmup')
    .reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

/** `3s` */
function formatSeconds(ms: number): string {
  return `${Math.ceil(ms / 1000)}s`
}
