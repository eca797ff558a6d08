import { countAbove, curveOf, mergeHistograms, percentiles } from '@startgrid/loadgen'
import { mean } from '@startgrid/stats/moments.ts'
import { BEYOND, COMMON, LEAST_LAUNCHES, OWN_LEVELS } from '../../experiment/open-loop-effort.ts'
import type { Cell } from '../../model/cell.ts'
import type { LatencyFigures, LatencyLevel, LatencyPercentile } from '../../model/figures.ts'
import type { Trial } from '../../model/heat.ts'
import { type LatencyResult, trialsOf } from '../../model/result.ts'
import { keepQuiet } from '../gates.ts'
import { isSpoiled } from '../lateness.ts'
import { intervalAround, whyFailed, whyNotKept, whyNotMeasured, whyUnsound, whyWrong } from '../trial.ts'

const PERCENTILES = [50, 90, 99, 99.9, 99.99] as const

/** The latencies of every cell at every level; pure. */
export function latencyFigures(result: LatencyResult): LatencyFigures[] {
  return result.cells.map((cell) => ({
    cell: cell.id,
    levels: levelsOf(cell, result).map((level) => levelOf(cell, level, result)),
    voidedBecause: whyNotMeasured(cell, result) ?? whyMissing(cell, result),
  }))
}

/** What any cell of the role was asked for: one that cannot do the common rate says so. */
function levelsOf({ role }: Cell, { cells, heats }: LatencyResult): string[] {
  const trials = trialsOf({ heats })
  const own = new Set(cells.filter((cell) => cell.role === role).map(({ id }) => id))
  const tried = new Set(trials.filter(({ cell }) => own.has(cell)).map(({ level }) => level))
  return [...OWN_LEVELS.keys(), COMMON].filter((level) => tried.has(level))
}

function whyMissing({ id }: Cell, result: LatencyResult): string | null {
  const isMeasured = trialsOf(result).some(({ cell, purpose }) => cell === id && purpose === 'level')
  return isMeasured ? null : 'it was not measured'
}

function levelOf(cell: Cell, level: string, result: LatencyResult): LatencyLevel {
  const own = trialsOf(result).filter((trial) => trial.cell === cell.id && trial.level === level)
  const used = usedOf(own)
  const voidedBecause = whyVoid(level, own, used)
  const sound = voidedBecause === null ? used : []
  const latencies = sound.flatMap(({ histogram }) => histogram ?? [])
  const lags = sound.flatMap(({ lagHistogram }) => lagHistogram ?? [])
  const pooled = latencies.length > 0 ? mergeHistograms(latencies) : null
  const lag = lags.length > 0 ? mergeHistograms(lags) : null
  const figures =
    pooled === null
      ? []
      : PERCENTILES.map((one) => percentileOf(one, { pooled, lag, latencies, launches: sound.length }))
  const highest = Math.max(
    0,
    ...figures.filter(({ beyond }) => beyond >= BEYOND).map(({ percentile }) => percentile),
  )
  return {
    level,
    offered: meanRate(sound.length > 0 ? sound : own, 'offered'),
    achieved: meanRate(sound, 'achieved'),
    launches: sound.length,
    requests: sound.reduce((sum, { requests }) => sum + requests, 0),
    percentiles: figures,
    curve: pooled === null ? [] : curveOf(pooled).filter(({ percentile }) => percentile <= highest),
    lagP99Ms: lag === null ? null : (percentiles(lag, [99])[0] ?? null),
    voidedBecause,
  }
}

/** Requests per second; 0 of no trials. */
function meanRate(trials: readonly Trial[], rate: 'offered' | 'achieved'): number {
  return trials.length > 0 ? mean(trials.map((trial) => trial[rate] ?? 0)) : 0
}

/** If others or a late generator are in most of them, all count that show no fault of the server: percentiles below the lag are withheld. */
function usedOf(own: readonly Trial[]): readonly Trial[] {
  const { kept, crowded } = keepQuiet(own, (trial) => !trial.disturbed && whyUnsound(trial) === null)
  if (!crowded) return kept
  return kept.filter((trial) => whyWrong(trial) === null && (trial.disturbed || whyNotKept(trial) === null))
}

/** Errors count even where others disturbed. */
function whyVoid(level: string, own: readonly Trial[], used: readonly Trial[]): string | null {
  const failure = own.map(whyFailed).find((reason) => reason !== null)
  if (failure !== undefined) return failure
  if (used.length > 0) return null
  const [first] = own
  if (first !== undefined) return whyUnsound(first)
  return level === COMMON ? 'the common rate is more than 90 % of what it can do' : 'it was not measured'
}

interface Pooled {
  /** Of all launches, and each launch's own. */
  pooled: string
  latencies: readonly string[]
  lag: string | null
  launches: number
}

function percentileOf(percentile: number, { pooled, latencies, lag, launches }: Pooled): LatencyPercentile {
  const beyond = countAbove(pooled, percentile)
  const [ms = 0] = percentiles(pooled, [percentile])
  const isLate = isSpoiled({ histogram: pooled, lagHistogram: lag }, percentile)
  const withheld = whyWithheld({ beyond, launches, isLate })
  if (withheld !== null) return { percentile, ms: null, low: null, high: null, beyond, withheld }
  const each = latencies.map((one) => percentiles(one, [percentile])[0] ?? ms)
  const { low, high } = intervalAround(ms, each)
  return { percentile, ms, low, high, beyond, withheld: null }
}

function whyWithheld(found: { beyond: number; launches: number; isLate: boolean }): string | null {
  if (found.launches < LEAST_LAUNCHES) return 'too few launches'
  if (found.beyond < BEYOND) return 'too few samples'
  return found.isLate ? 'the generator was late' : null
}
