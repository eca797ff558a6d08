import { countAbove, mergeHistograms, percentiles } from '@startgrid/loadgen'
import { mean } from '@startgrid/stats/moments.ts'
import { BEYOND } from '../../experiment/open-loop-effort.ts'
import type { Cell } from '../../model/cell.ts'
import type { OverloadFigures } from '../../model/figures.ts'
import type { Trial } from '../../model/heat.ts'
import { type OverloadResult, trialsOf } from '../../model/result.ts'
import { keepQuiet } from '../gates.ts'
import { closedLoopOf, intervalOf, whyNotMeasured } from '../trial.ts'

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

/** An overload on one launch, with what was measured before and after it at half the capacity. */
export interface Episode {
  before: Trial
  overload: Trial
  /** One after the other, with their series. */
  recovery: readonly Trial[]
}

/** An app has recovered when its p99 is at most this multiple of the p99 before the overload. */
const BACK_WITHIN = 2

/** Milliseconds: below this a p99 is as good as back, whatever it was before. */
const FLOOR_MS = 5

/**
 * Seconds from the last request of the overload to the end of the window that shows p99 back; draining is part of it. Two windows
 * in a row must show it, so that one lucky one does not decide. The moments between two loads are not counted: nothing is offered then.
 * @param overloadMs for how long the overload was offered
 * @returns null if p99 is not back
 */
export function recoveredAfter({ before, overload, recovery }: Episode, overloadMs: number): number | null {
  const limitMs = Math.max(FLOOR_MS, BACK_WITHIN * (before.latency?.p99 ?? 0))
  let begin = Math.max(0, overload.seconds - overloadMs / 1000)
  let back: number | null = null
  for (const trial of recovery) {
    for (const { at, seconds, requests, p99 } of trial.series ?? []) {
      const isBack = requests > 0 && p99 <= limitMs
      if (isBack && back !== null) return back
      back = isBack ? begin + at + seconds : null
    }
    begin += trial.seconds
  }
  return null
}

/** The episodes of one cell, in order, launch by launch; one that was cut short is left out. */
export function episodesOf(trials: readonly Trial[]): Episode[] {
  const episodes: Episode[] = []
  let before: Trial | undefined
  for (const trial of trials) {
    if (trial.purpose === 'level') before = trial
    else if (trial.purpose === 'overload' && before?.launch === trial.launch)
      episodes.push({ before, overload: trial, recovery: [] })
    else if (trial.purpose === 'recovery') {
      const last = episodes.at(-1)
      if (last?.overload.launch === trial.launch)
        episodes[episodes.length - 1] = { ...last, recovery: [...last.recovery, trial] }
    }
  }
  return episodes
}
