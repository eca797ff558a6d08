import { whyNotKept, whyWrong } from '../judge/trial.ts'
import type { CapacityFigures } from '../model/figures.ts'
import type { CapacityResult, CellSpec, Trial } from '../model/result.ts'
import { BEYOND } from '../plan/open-loop-effort.ts'
import { closedLoopOf, whyNotMeasured } from './cell-state.ts'
import { intervalOf } from './interval.ts'
import { highestKept, isGeneratorBound, isKept, nextHigher, type Outcome, type Step } from './threshold.ts'

/** A fresh launch confirms the rate if its own staircase ends at most this far below it, as a part of it. */
const CONFIRMED_WITHIN = 0.05

/** A generator this late, as a part of the bound, may be the reason for a p99 above it; a shorter stall is not. */
const LATE = 0.1

/** The capacity of every cell; pure. */
export function capacityFigures(result: CapacityResult): CapacityFigures[] {
  return result.cells.map((cell) => figuresOf(cell, result))
}

/**
 * What a step of the staircase says. Void ones are decided by what others and the generator did alone.
 * @param p99Ms the bound, in milliseconds from the intended send time
 */
export function outcomeOf(trial: Trial, p99Ms: number): { outcome: Outcome; reason: string | null } {
  if (trial.disturbed) return { outcome: 'void', reason: 'others used the machine' }
  const behind = whyNotKept(trial)
  if (trial.generatorBound && behind !== null)
    return { outcome: 'bound', reason: 'the generator could not offer this rate' }
  if (trial.lag !== null && trial.lag.p99 > p99Ms * LATE)
    return { outcome: 'void', reason: `the generator was ${trial.lag.p99.toFixed(1)} ms late` }
  const wrong = whyWrong(trial) ?? behind
  if (wrong !== null) return { outcome: 'failed', reason: wrong }
  const p99 = trial.latency?.p99 ?? Number.POSITIVE_INFINITY
  if (p99 > p99Ms) return { outcome: 'failed', reason: `p99 is above ${p99Ms} ms` }
  return { outcome: 'kept', reason: tooFewBeyond(trial) }
}

function tooFewBeyond({ requests }: Trial): string | null {
  const beyond = Math.floor(requests / 100)
  return beyond < BEYOND ? `only ${beyond} answers lie beyond p99` : null
}

function figuresOf(cell: CellSpec, result: CapacityResult): CapacityFigures {
  const bound = result.settings.p99Ms ?? 0
  const trials = result.trials.filter((trial) => trial.cell === cell.id)
  const steps = trials.filter(({ purpose }) => purpose === 'level')
  const found = [...Map.groupBy(steps, ({ launch }) => launch).values()]
    .map((own) => foundBy(own, bound))
    .filter((one) => one.steps.some(({ outcome }) => outcome !== 'void'))
  const limits = found.flatMap(({ limit }) => limit ?? [])
  const rate = limits.length > 0 ? intervalOf(limits) : null
  const confirming = found.slice(1).flatMap(({ limit }) => limit ?? [])
  const wasDisturbed = trials.length > 0 && found.length === 0
  const voidedBecause =
    whyNotMeasured(cell, result) ??
    (wasDisturbed ? 'others used the machine each time' : whyVoid(found, bound))
  return {
    cell: cell.id,
    rate: voidedBecause === null ? rate : null,
    confirmed: confirming.filter((limit) => limit >= (rate?.value ?? 0) * (1 - CONFIRMED_WITHIN)).length,
    tried: Math.max(0, found.length - 1),
    closedLoop: closedLoopOf(cell, trials),
    steps: steps.map((trial) => stepOf(trial, bound)),
    voidedBecause,
  }
}

/** How the staircase of one launch ended. */
interface Found {
  steps: Step[]
  /** The highest rate that was kept in most of at least two steps. */
  limit: number | null
  /** The generator could not offer more than that. */
  generatorBound: boolean
}

function foundBy(trials: readonly Trial[], bound: number): Found {
  const steps = trials.map((trial) => ({ rate: rateOf(trial), outcome: outcomeOf(trial, bound).outcome }))
  const limit = highestKept(steps)
  if (limit === null || !isKept(steps, limit)) return { steps, limit: null, generatorBound: false }
  const above = nextHigher(steps, limit)
  return { steps, limit, generatorBound: above !== null && isGeneratorBound(steps, above) }
}

/** Of the level's name: what was really offered differs by the chance of the arrivals. */
function rateOf({ level }: Trial): number {
  return Number.parseFloat(level)
}

function whyVoid(found: readonly Found[], bound: number): string | null {
  const limited = found.filter(({ generatorBound }) => generatorBound)
  if (limited.length > 0) {
    const least = Math.min(...limited.flatMap(({ limit }) => limit ?? []))
    return `the generator could not offer more than about ${Math.round(least)} requests per second, which were kept`
  }
  if (found.some(({ limit }) => limit !== null)) return null
  if (found.length === 0) return 'it was not measured'
  const kept = found.some(({ steps }) => steps.some(({ outcome }) => outcome === 'kept'))
  return kept ? `no rate kept p99 under ${bound} ms twice` : `no rate kept p99 under ${bound} ms`
}

function stepOf(trial: Trial, bound: number): CapacityFigures['steps'][number] {
  const { outcome, reason } = outcomeOf(trial, bound)
  return {
    launch: trial.launch,
    rate: rateOf(trial),
    p99Ms: trial.latency?.p99 ?? null,
    kept: outcome === 'kept',
    reason,
  }
}
