import type { Interval } from './estimate.ts'
import { findRoot } from './root.ts'
import { incompleteBeta } from './student.ts'

/**
 * A part of so many trials with its exact 95 % interval (Clopper and Pearson 1934, Biometrika 26:404).
 * @param hits of the trials
 */
export function proportion(hits: number, trials: number): Interval {
  if (trials === 0) return { value: Number.NaN, low: null, high: null }
  const lowerEnd = (own: number) =>
    own === 0 ? 0 : findRoot((part) => incompleteBeta(part, own, trials - own + 1) - TAIL, 0, 1)
  return { value: hits / trials, low: lowerEnd(hits), high: 1 - lowerEnd(trials - hits) }
}

const TAIL = 0.025
