import { countAbove, mergeHistograms, percentiles } from '@startgrid/loadgen'
import { mean } from '@startgrid/stats/moments.ts'
import { BEYOND } from '../../experiment/open-loop-effort.ts'
import type { Cell } from '../../model/cell.ts'
import type { OverloadFigures } from '../../model/figures.ts'
import type { Trial } from '../../model/heat.ts'
import { type OverloadResult, trialsOf } from '../../model/result.ts'
import { keepQuiet } from '../gates/interference.ts'
import { closedLoopOf, whyNotMeasured } from '../trial.ts'
import { intervalOf } from './interval.ts'
import { type Episode, episodesOf, recoveredAfter } from './recovery.ts'

/** Less than this multiple of the capacity is not an overload: the generator could not offer more. */
const LEAST_FACTOR = 1.5

/** What is left of every cell at twice its capacity; pure. */
export function overloadFigures(result: OverloadResult): OverloadFigures[] {
  return result.cells.map((cell) => figuresOf(cell, result))
}

function figuresOf(cell: Cell, result: OverloadResult): OverloadFigures {
  const trials = trialsOf(result).filter((trial) => trial.cell === cell.id)
  const all = episodesOf(trials)
  const { kept: used } = keepQuiet(all, ({ overload }) => !overload.disturbed)
  const overloads = used.map(({ overload }) => overload)
  const capacity = closedLoopOf(cell, trials)
  const offered = overloads.length > 0 ? mean(overloads.map((trial) => trial.offered ?? 0)) : null
  const voidedBecause = whyNotMeasured(cell, result) ?? whyVoid({ capacity, offered })
  const goodputs = voidedBecause === null ? overloads.map(goodputOf) : []
  const goodput = goodputs.length > 0 && goodputs.every((one) => one > 0) ? intervalOf(goodputs) : null
  return {
    cell: cell.id,
    capacity,
    offered,
    goodput,
    goodputShare: goodput === null || capacity === null ? null : goodput.value / capacity,
    refused:
      goodputs.length > 0 ? mean(overloads.map(({ refused = 0, seconds }) => refused / seconds)) : null,
    p99Ms: voidedBecause === null ? p99Of(overloads) : null,
    errors: sumOf(overloads),
    recoverySeconds: voidedBecause === null ? typicalRecovery(used, result.settings.sliceMs) : null,
    launches: new Set(overloads.map(({ launch }) => launch)).size,
    voidedBecause,
  }
}

function whyVoid({ capacity, offered }: Pick<OverloadFigures, 'capacity' | 'offered'>): string | null {
  if (capacity === null || offered === null) return 'it was not measured'
  if (offered >= capacity * LEAST_FACTOR) return null
  return `the generator could offer no more than ${(offered / capacity).toFixed(1)} times the capacity`
}

/**
 * Right responses per second, from the first request to the last response. Those with another status or a wrong body are responses, but
 * not right ones; those that came too late are not among the responses.
 */
function goodputOf({ requests, seconds, errors: { status = 0, body = 0 } }: Trial): number {
  return Math.max(0, requests - status - body) / seconds
}

function p99Of(overloads: readonly Trial[]): number | null {
  const histograms = overloads.flatMap(({ histogram }) => histogram ?? [])
  if (histograms.length === 0) return null
  const pooled = mergeHistograms(histograms)
  return countAbove(pooled, 99) >= BEYOND ? (percentiles(pooled, [99])[0] ?? null) : null
}

function sumOf(overloads: readonly Trial[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { errors, refused = 0 } of overloads)
    for (const [kind, count] of Object.entries(errors))
      sums[kind] = (sums[kind] ?? 0) + count - (kind === 'status' ? refused : 0)
  return sums
}

/** The median over launches; a launch that did not recover took longer than any other. Null if that is the median, or nothing is known. */
function typicalRecovery(episodes: readonly Episode[], overloadMs: number): number | null {
  const { kept } = keepQuiet(
    episodes,
    ({ before, recovery }) => ![before, ...recovery].some(({ disturbed }) => disturbed),
  )
  const each = kept.map((episode) => recoveredAfter(episode, overloadMs) ?? Number.POSITIVE_INFINITY)
  const middle = each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? Number.POSITIVE_INFINITY
  return Number.isFinite(middle) ? middle : null
}
