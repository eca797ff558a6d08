import { formatRate } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { countsOf, mergeHistograms } from '@startgrid/loadgen/recording.ts'
import { BEYOND, latencyHeats, shareOf } from '../experiment/open-loop.ts'
import type { Figures } from '../result/experiment.ts'
import type { OpenLoop } from '../result/figures.ts'
import type { Heat, Trial } from '../result/heat.ts'
import type { Metric } from '../result/metrics.ts'
import type { Cell, Settings } from '../result/result.ts'
import { isTimely, whyFailed, whyNotKept, whyWrong } from './gates.ts'

/** The latencies of one system, from the open loops of all heats of its race. */

/** The mean has no percentile. */
const LATENCIES = [
  ['mean-latency', null],
  ['median-latency', 50],
  ['p90-latency', 90],
  ['p97.5-latency', 97.5],
  ['p99-latency', 99],
] as const satisfies readonly (readonly [Metric, number | null])[]

export interface OpenLoops {
  /** Per heat; empty where nothing counts. */
  launches: Figures[]
  judged: OpenLoop
}

/** @returns null where the latency of the system is not asked for */
export function openLoopsOf(
  { id, openLoop }: Cell,
  heats: readonly Heat[],
  settings: Pick<Settings, 'heats' | 'looks'>,
): OpenLoops | null {
  if (!openLoop) return null
  const planned = latencyHeats(settings)
  const own = heats.slice(0, planned).map(({ trials }) => trials.filter(({ cell }) => cell === id))
  // Half of the launches, and two for an interval.
  const least = Math.max(Math.min(2, own.length), own.length / 2)
  const isCounted = ({ counted }: Used) => counted >= least
  const quiet = latenciesOf(own, planned, (load) => !load.disturbed && whyNotKept(load) === null)
  // If others leave too few, what they took counts as well.
  const used = quiet.some(isCounted)
    ? quiet
    : latenciesOf(own, planned, (load) => load.disturbed || whyNotKept(load) === null)
  const launches = Math.max(0, ...used.map(({ counted }) => counted))
  const tooFew = `the generator was late, or nothing was compared, in ${own.length - launches} of ${plural(own.length, 'heat')}`
  // One heat in which it stalled says nothing of what it can do.
  const slow = heats.flatMap(({ commonRate }) => (commonRate?.tooSlow.includes(id) ? commonRate : []))
  const voidedBecause =
    slow.length > own.length / 2
      ? `${formatRate(slow[0]?.rate ?? 0)} requests per second are more than 90 % of what it can do`
      : (whyVoid(own.flat()) ?? (used.some(isCounted) ? null : tooFew))
  const valid = voidedBecause === null ? used : []
  const late = valid.filter((one) => one.isLate && !isCounted(one)).map(({ metric }) => metric)
  const shown = valid.filter(isCounted)
  return {
    launches: heats.map((_, heat) =>
      Object.fromEntries(
        shown.flatMap(({ metric, seconds }) => (seconds[heat] ? [[metric, seconds[heat]]] : [])),
      ),
    ),
    judged: { launches, voidedBecause, ...(late.length > 0 && { late }) },
  }
}

interface Used {
  metric: (typeof LATENCIES)[number][0]
  /** Per heat; undefined where none counts. */
  seconds: readonly (number | undefined)[]
  /** Heats in which one counts. */
  counted: number
  /** A late generator has a part in the others. */
  isLate: boolean
}

function latenciesOf(
  own: readonly (readonly Trial[])[],
  planned: number,
  isUsed: (load: Trial) => boolean,
): Used[] {
  const used = own.map((loads) => loads.filter((load) => whyWrong(load) === null && isUsed(load)))
  const usual = usualOf(used.flat())
  return LATENCIES.map(([metric, percentile]) => {
    const found = used.map((loads) =>
      loads.flatMap((load) => latencyOf(load, percentile, usual, planned) ?? []),
    )
    const seconds = found.map((each) => each.find(({ isLate }) => !isLate)?.seconds)
    const counted = seconds.filter((one) => one !== undefined).length
    return { metric, seconds, counted, isLate: found.flat().some(({ isLate }) => isLate) }
  })
}

/**
 * One error voids, and so does a server that fell behind while nobody disturbed it: such launches may not be left out, or the slow ones
 * would be. A generator that was late only takes the launch.
 */
function whyVoid(loads: readonly Trial[]): string | null {
  if (loads.length === 0) return 'it was not measured'
  const failed = loads.flatMap((load) => whyFailed(load) ?? [])
  const behind = loads.filter(isTimely).flatMap((load) => whyNotKept(load) ?? [])
  return failed[0] ?? behind[0] ?? null
}

/** What the half of the loads measured in which the generator was least late. */
function usualOf(loads: readonly Trial[]) {
  const byLag = loads.toSorted((one, other) => (one.lag?.p99 ?? 0) - (other.lag?.p99 ?? 0))
  const least = byLag.slice(0, Math.ceil(loads.length / 2))
  const histograms = least.flatMap(({ histogram }) => histogram ?? [])
  return {
    histogram: histograms.length === 0 ? null : mergeHistograms(histograms),
    meanMs: least.reduce((sum, { meanMs }) => sum + (meanMs ?? 0) / least.length, 0),
  }
}

/**
 * Of one load; undefined of a percentile with too few samples beyond it. Whether it was late is asked of its lag and of what is usual: asked of its
 * own latencies, those of slow loads would count more often.
 * @param percentile null: the mean
 */
function latencyOf(
  { histogram, lagHistogram, requests, meanMs }: Trial,
  percentile: number | null,
  usual: ReturnType<typeof usualOf>,
  heats: number,
): { seconds: number; isLate: boolean } | undefined {
  if (percentile === null && meanMs !== null)
    return { seconds: meanMs / 1000, isLate: isMeanSpoiled(lagHistogram, usual.meanMs) }
  if (percentile === null) return undefined
  const beyond = requests * (1 - percentile / 100)
  if (histogram === null || usual.histogram === null || beyond < BEYOND * shareOf(heats)) return undefined
  const isLate = isSpoiled(usual.histogram, lagHistogram, percentile)
  return { seconds: valueAt(histogram, percentile) / 1000, isLate }
}

/** The rate that the first heat of a race found: the same for all, so that they can be compared. */
export function openRateOf(heats: readonly Heat[], race: string): number | undefined {
  return heats.find((heat) => heat.race === race && heat.commonRate !== null)?.commonRate?.rate
}

/**
 * What a late generator adds to the figures of an open loop. A latency counts from when a request was due, so that of a late request has
 * the delay in it, and so have those of requests that then wait behind it. Both only make latencies longer.
 */

/** A figure that may be longer by more than this part is not the server's. */
const MOST = 0.1

/**
 * If late requests, and as many behind them, had been the fastest of all, a percentile would be that of so many fewer.
 * @param histogram of latencies, as `Trial` has it
 * @param percentile 0 to 100
 */
export function isSpoiled(histogram: string, lagHistogram: string | null, percentile: number): boolean {
  if (lagHistogram === null) return false
  const ms = valueAt(histogram, percentile)
  const moved = 2 * 100 * partLate(lagHistogram, ms)
  return ms > valueAt(histogram, Math.max(0, percentile - moved)) * (1 + MOST)
}

/** Milliseconds that so many do not exceed. @param percentile 0 to 100 */
export function valueAt(histogram: string, percentile: number): number {
  const counts = read(histogram)
  let left = Math.max(1, Math.ceil((percentile / 100) * sumOf(counts, () => 1)))
  for (const { ms, count } of counts) {
    left -= count
    if (left <= 0) return ms
  }
  return 0
}

type Counts = ReturnType<typeof countsOf>

/** A run is analysed after every heat, and to decode a histogram takes milliseconds. */
const known = new Map<string, Counts>()

function read(encoded: string): Counts {
  const counts = known.get(encoded) ?? countsOf(encoded)
  known.set(encoded, counts)
  return counts
}

/** Part of the requests that were late by this latency or more; one that was late by half of it counts half. */
function partLate(lagHistogram: string, ms: number): number {
  const lags = read(lagHistogram)
  const late = lags.filter((lag) => lag.ms > ms * MOST)
  return sumOf(late, (lag) => Math.min(1, lag.ms / ms)) / sumOf(lags, () => 1)
}

/** @param meanMs the mean latency */
export function isMeanSpoiled(lagHistogram: string | null, meanMs: number): boolean {
  if (lagHistogram === null) return false
  const lags = read(lagHistogram)
  return (2 * sumOf(lags, ({ ms }) => ms)) / sumOf(lags, () => 1) > meanMs * MOST
}

function sumOf(
  lags: readonly { ms: number; count: number }[],
  each: (lag: { ms: number }) => number,
): number {
  return lags.reduce((sum, lag) => sum + lag.count * each(lag), 0)
}
