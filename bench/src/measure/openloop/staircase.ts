import {
  highestKept,
  isGeneratorBound,
  isKept,
  isLost,
  nextHigher,
  type Outcome,
  RUNG,
  type Step,
} from '../../judge/openloop/capacity-figures.ts'

/**
 * The search for a capacity: an up-and-down staircase over a fixed grid of rates. After a step that kept the bound it goes up,
 * after one that did not it goes down; the stride halves at every reversal, and doubles from the third step in one direction on
 * (PEST: Taylor and Creelman 1967, https://doi.org/10.1121/1.1910407). Such a walk gathers around the rate that is kept half of the
 * time (Levitt 1971, https://doi.org/10.1121/1.1912375) and visits the same rates again, so that one lucky or unlucky step does
 * not decide. Pure: plain data in, plain data out.
 */
export interface Staircase extends StaircaseOptions {
  steps: readonly Step[]
  /** Where the next step is, in rungs from the first one. */
  rung: number
  /** 1 up, -1 down, 0 before the first step that counts. */
  direction: number
  /** Moves in this direction, one after the other. */
  run: number
  /** Null while it goes on. */
  end: StaircaseEnd | null
}

export interface StaircaseOptions {
  /** Requests per second of the first step. */
  start: number
  /** Rungs of 2 % from the first step to the second. */
  stride: number
  /** Steps after which it ends in any case, void ones included. */
  maxSteps: number
}

/**
 * - `settled`: a rate was kept in most of at least two steps, and the next higher one was not
 * - `generator`: the highest rate that the generator can offer is kept, so the capacity is at least that
 * - `never`: not even the lowest rung is kept
 * - `unsettled`: the steps are used up, or others disturbed too many of them
 */
type StaircaseEnd = 'settled' | 'generator' | 'never' | 'unsettled'

/** The lowest rung, as a part of the first step's rate. */
const LOWEST = 0.04

/** Void steps in a row after which the search is given up. */
const VOID_STEPS = 3

const MAX_STRIDE = 32

/** @throws {RangeError} unless the rate is positive and the counts are whole and at least 1 */
export function createStaircase({ start, stride, maxSteps }: StaircaseOptions): Staircase {
  const isCount = (count: number) => Number.isInteger(count) && count >= 1
  if (!(start > 0) || !isCount(stride) || !isCount(maxSteps))
    throw new RangeError(`A staircase cannot start at ${start} with stride ${stride} and ${maxSteps} steps.`)
  return { start, stride, maxSteps, steps: [], rung: 0, direction: 0, run: 0, end: null }
}

/** The rate to try next, in requests per second, of four digits; null once it is over. */
export function nextRate({ start, rung, end }: Staircase): number | null {
  return end === null ? Number((start * RUNG ** rung).toPrecision(4)) : null
}

/** @returns the staircase after a step at `nextRate` had this outcome; the same one if it was over */
export function advance(staircase: Staircase, outcome: Outcome): Staircase {
  const rate = nextRate(staircase)
  if (rate === null) return staircase
  const moved = { ...staircase, ...move(staircase, outcome), steps: [...staircase.steps, { rate, outcome }] }
  return { ...moved, end: endOf(moved) }
}

/** Where to go after an outcome. A void step says nothing and is repeated. */
function move(
  { rung, stride, direction, run }: Staircase,
  outcome: Outcome,
): Pick<Staircase, 'rung' | 'stride' | 'direction' | 'run'> {
  if (outcome === 'void') return { rung, stride, direction, run }
  const next = outcome === 'kept' ? 1 : -1
  const reversed = direction !== 0 && next !== direction
  const ran = reversed ? 1 : run + 1
  const length = reversed ? Math.ceil(stride / 2) : ran >= 3 ? Math.min(stride * 2, MAX_STRIDE) : stride
  return { rung: Math.max(rung + next * length, lowestRung()), stride: length, direction: next, run: ran }
}

function lowestRung(): number {
  return Math.ceil(Math.log(LOWEST) / Math.log(RUNG))
}

function endOf({ steps, rung, maxSteps }: Staircase): StaircaseEnd | null {
  const limit = highestKept(steps)
  const above = limit === null ? null : nextHigher(steps, limit)
  if (limit !== null && above !== null && isKept(steps, limit) && isLost(steps, above))
    return isGeneratorBound(steps, above) ? 'generator' : 'settled'
  const lowest = Math.min(...steps.map(({ rate }) => rate))
  if (limit === null && rung === lowestRung() && isLost(steps, lowest)) return 'never'
  const last = steps.slice(-VOID_STEPS)
  const given = last.length === VOID_STEPS && last.every(({ outcome }) => outcome === 'void')
  return given || steps.length >= maxSteps ? 'unsettled' : null
}
