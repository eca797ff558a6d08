import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { GateResult } from '../../model/figures.ts'
import type { Slice } from '../../model/result.ts'
import { counts, serverSeconds } from '../analysis/record.ts'
import type { Evidence, Judged } from './evidence.ts'
import { failed, passed, unknown } from './verdict.ts'

/**
 * How much more the first measured slice of a launch may cost than its later ones, in the geometric mean of all launches. Slices of a warm server vary
 * by 2 to 4 %; a Node server costs 160 to 280 % more in its first 250 ms and still about 20 % more after a second where it is not
 * warm yet. What is left below this is a warning (a trend above 2 %).
 */
const FIRST_ABOVE = 0.15

/** A slice may end a little early: its clock begins with the first request. */
const SHORTER_BY = 0.05

/** As much load was discarded after each launch as the cell needs, and it was enough. */
export function judgeWarmup({ cell, launches }: Pick<Evidence, 'cell' | 'launches'>): GateResult {
  const measured = launches.filter((slices) => slices.some(counts))
  if (measured.length === 0) return unknown('warmup', 'nothing was measured')
  const discarded = Math.min(...measured.map(discardedMs))
  if (discarded < cell.warmupMs * (1 - SHORTER_BY)) {
    const finding = `only ${Math.round(discarded)} of ${cell.warmupMs} ms were discarded before measuring`
    return failed('warmup', finding, 'Measure again: it was cut short.')
  }
  const stated = `${cell.warmupMs} ms were discarded before measuring`
  const first = firstAgainstLater(cell, measured)
  if (first === null) return passed('warmup', `${stated}; too few slices show whether that was enough`)
  const finding = `${stated}; the first slices then cost ${describe(first)} than later ones`
  if (first - 1 <= FIRST_ABOVE) return passed('warmup', finding)
  return failed('warmup', finding, 'Discard more, with --warmup.')
}

/** Milliseconds of load on this cell before its first measured slice. */
function discardedMs(slices: readonly Slice[]): number {
  return slices
    .filter(({ phase }) => phase === 'warmup')
    .reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

/** A ratio; null if no launch has two slices that count. */
function firstAgainstLater(cell: Judged, launches: Evidence['launches']): number | null {
  const logs = launches.flatMap((slices) => {
    const [first, ...later] = slices.filter(counts).map((slice) => costOf(cell, slice))
    if (first === undefined || later.length === 0) return []
    return Math.log(first / (later.reduce((sum, cost) => sum + cost, 0) / later.length))
  })
  const finite = logs.filter(Number.isFinite)
  return finite.length > 0 ? Math.exp(finite.reduce((sum, log) => sum + log, 0) / finite.length) : null
}

/** CPU seconds per request; where they are not known, seconds per request. */
function costOf(cell: Judged, { cpuSeconds, seconds, requests }: Slice): number {
  return (serverSeconds(cell, cpuSeconds) ?? seconds) / requests
}

function describe(ratio: number): string {
  return `${formatPercent(Math.abs(ratio - 1))} ${ratio >= 1 ? 'more' : 'less'}`
}
