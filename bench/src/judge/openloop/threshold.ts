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
