import { BEYOND } from '../../experiment/open-loop-effort.ts'
import type { Cell } from '../../model/cell.ts'
import type { CapacityFigures } from '../../model/figures.ts'
import type { Trial } from '../../model/heat.ts'
import { type CapacityResult, trialsOf } from '../../model/result.ts'
import { keepQuiet } from '../gates.ts'
import { closedLoopOf, intervalOf, whyNotKept, whyNotMeasured, whyWrong } from '../trial.ts'

/** A fresh launch confirms the rate if its own staircase ends at most this far below it, as a part of it. */
const CONFIRMED_WITHIN = 0.05

/** A generator this late, as a part of the bound, may be the reason for a p99 above it; a shorter stall is not. */
const LATE = 0.1

/** The capacity of every cell; pure. */
export function capacityFigures(result: CapacityResult): CapacityFigures[] {
  return result.cells.map((cell) => figuresOf(cell, result))
}

/**
 * What a step of the staircase says. What others and the generator did alone decides which steps are void.
 * @param p99Ms the bound, in milliseconds from the intended send time
 * @param crowded most steps of the launch would be void, so all count
 */
export function outcomeOf(
  trial: Trial,
  p99Ms: number,
  crowded = false,
): { outcome: Outcome; reason: string | null } {
  const behind = whyNotKept(trial)
  if (trial.generatorBound && behind !== null && !trial.disturbed)
    return { outcome: 'bound', reason: 'the generator could not offer this rate' }
  const disturbance = whyDisturbed(trial, p99Ms)
  if (disturbance !== null && !crowded) return { outcome: 'void', reason: disturbance }
  const wrong = whyWrong(trial) ?? behind
  if (wrong !== null) return { outcome: 'failed', reason: wrong }
  const p99 = trial.latency?.p99 ?? Number.POSITIVE_INFINITY
  if (p99 > p99Ms) return { outcome: 'failed', reason: `p99 is above ${p99Ms} ms` }
  return { outcome: 'kept', reason: tooFewBeyond(trial) }
}

/** Whether so many steps of one launch were disturbed that all of them count. */
export function isCrowdedSearch(trials: readonly Trial[], p99Ms: number): boolean {
  return keepQuiet(trials, (trial) => whyDisturbed(trial, p99Ms) === null).crowded
}

function whyDisturbed({ disturbed, lag }: Trial, p99Ms: number): string | null {
  if (disturbed) return 'others used the machine'
  return lag !== null && lag.p99 > p99Ms * LATE ? `the generator was ${lag.p99.toFixed(1)} ms late` : null
}

function tooFewBeyond({ requests }: Trial): string | null {
  const beyond = Math.floor(requests / 100)
  return beyond < BEYOND ? `only ${beyond} responses lie beyond p99` : null
}

function figuresOf(cell: Cell, result: CapacityResult): CapacityFigures {
  const bound = result.settings.p99Ms ?? 0
  const trials = trialsOf(result).filter((trial) => trial.cell === cell.id)
  const steps = trials.filter(({ purpose }) => purpose === 'level')
  const found = [...Map.groupBy(steps, ({ launch }) => launch).values()].map((own) => foundBy(own, bound))
  const limits = found.flatMap(({ limit }) => limit ?? [])
  const rate = limits.length > 0 ? intervalOf(limits) : null
  const confirming = found.slice(1).flatMap(({ limit }) => limit ?? [])
  const voidedBecause = whyNotMeasured(cell, result) ?? whyVoid(found, bound)
  return {
    cell: cell.id,
    rate: voidedBecause === null ? rate : null,
    confirmed: confirming.filter((limit) => limit >= (rate?.value ?? 0) * (1 - CONFIRMED_WITHIN)).length,
    tried: Math.max(0, found.length - 1),
    closedLoop: closedLoopOf(cell, trials),
    steps: found.flatMap((one) => one.figures),
    voidedBecause,
  }
}

/** How the staircase of one launch ended. */
interface Found {
  steps: Step[]
  figures: CapacityFigures['steps']
  /** The highest rate that was kept in most of at least two steps. */
  limit: number | null
  /** The generator could not offer more than that. */
  generatorBound: boolean
}

function foundBy(trials: readonly Trial[], bound: number): Found {
  const crowded = isCrowdedSearch(trials, bound)
  const judged = trials.map((trial) => ({ trial, rate: rateOf(trial), ...outcomeOf(trial, bound, crowded) }))
  const steps = judged.map(({ rate, outcome }) => ({ rate, outcome }))
  const figures = judged.map(({ trial: { launch, latency }, rate, outcome, reason }) => ({
    ...{ launch, rate, p99Ms: latency?.p99 ?? null, kept: outcome === 'kept', reason },
  }))
  const limit = highestKept(steps)
  if (limit === null || !isKept(steps, limit)) return { steps, figures, limit: null, generatorBound: false }
  const above = nextHigher(steps, limit)
  return { steps, figures, limit, generatorBound: above !== null && isGeneratorBound(steps, above) }
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

/** What the steps of a staircase say together: the highest rate that is kept. Pure; the figures of a report are made from it too. */

/** What one step showed. `void`: nothing, for others disturbed it. `bound`: the generator could not offer the rate. */
export type Outcome = 'kept' | 'failed' | 'void' | 'bound'

export interface Step {
  /** Requests per second. */
  rate: number
  outcome: Outcome
}

/** From one rate of the grid to the next. A much finer grid gives nothing: launches differ by 2 to 4 %. */
export const RUNG = 1.02

/** Steps at a rate that decide about it. */
const VISITS = 2

/**
 * The highest rate that was kept: the one whose choice as the limit contradicts the fewest steps (those that failed at or below it,
 * those that kept above it), which is the maximum-likelihood estimate of a threshold if every step errs alike. Of equals the lowest
 * is taken. As it is a rate that was tried and kept, it lies half a rung (1 %) below the threshold on average.
 * @returns requests per second; null if no rate is kept
 */
export function highestKept(steps: readonly Step[]): number | null {
  const decided = steps.filter(({ outcome }) => outcome !== 'void')
  const contradicting = (limit: number) =>
    decided.filter(({ rate, outcome }) => (outcome === 'kept') !== rate <= limit).length
  const kept = new Set(decided.filter(({ outcome }) => outcome === 'kept').map(({ rate }) => rate))
  let best: number | null = null
  let fewest = contradicting(0)
  for (const rate of [...kept].toSorted((a, b) => a - b)) {
    if (contradicting(rate) >= fewest) continue
    best = rate
    fewest = contradicting(rate)
  }
  return best
}

/** Whether a rate was kept in most steps at it, and in at least two: one lucky step does not decide. */
export function isKept(steps: readonly Step[], rate: number): boolean {
  const { kept, lost } = votes(steps, rate)
  return kept >= VISITS && kept > lost
}

/** Whether a rate was not kept in most steps at it, and in at least two. */
export function isLost(steps: readonly Step[], rate: number): boolean {
  const { kept, lost } = votes(steps, rate)
  return lost >= VISITS && lost > kept
}

/** The rate on the next rung above, if it was tried. */
export function nextHigher(steps: readonly Step[], rate: number): number | null {
  const above = steps.map((step) => step.rate).filter((one) => one > rate && one < rate * RUNG ** 1.5)
  return above.length > 0 ? Math.min(...above) : null
}

/** Whether the generator, not the server, is why a rate was not kept. */
export function isGeneratorBound(steps: readonly Step[], rate: number): boolean {
  const lost = steps.filter((step) => step.rate === rate && isLoss(step))
  return lost.filter(({ outcome }) => outcome === 'bound').length * 2 > lost.length
}

function votes(steps: readonly Step[], rate: number): { kept: number; lost: number } {
  const here = steps.filter((step) => step.rate === rate)
  return { kept: here.filter(({ outcome }) => outcome === 'kept').length, lost: here.filter(isLoss).length }
}

function isLoss({ outcome }: Step): boolean {
  return outcome === 'failed' || outcome === 'bound'
}
