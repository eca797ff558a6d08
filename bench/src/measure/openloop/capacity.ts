import {
  assumedRate,
  type CapacityEffort,
  capacityMs,
  durationFor,
  launchMs,
} from '../../experiment/open-loop-effort.ts'
import { highestKept, isCrowdedSearch, outcomeOf } from '../../judge/openloop/capacity-figures.ts'
import type { Cell } from '../../model/cell.ts'
import type { Trial } from '../../model/heat.ts'
import type { OpenLoopResult } from '../../model/result.ts'
import type { Method, Session } from './session.ts'
import { advance, createStaircase, nextRate, type Staircase, type StaircaseOptions } from './staircase.ts'

/** Where a search starts, as a part of the closed-loop rate. */
const START = 0.9

/** Rungs of 2 %: the first launch knows little, later ones know what that one found. */
const SEARCH_STRIDE = 4
const CONFIRM_STRIDE = 2

/**
 * Finds the highest rate that keeps the bound: a staircase on every launch of a cell. The first starts near the closed-loop rate; later
 * ones start where the last one ended, in proportion to their own closed-loop rate, because launches and the machine drift.
 */
export function capacityMethod(result: OpenLoopResult, effort: CapacityEffort): Method {
  const { p99Ms, heats: launches } = result.settings
  if (p99Ms === null) throw new RangeError('A capacity needs a bound on p99.')
  const found = new Map<string, number>()
  return {
    launches,
    expectedMs: (cell, launch) => expectedMs(cell, launch, effort),
    measure: async (session) => {
      const closedLoop = await session.capacity()
      const ratio = found.get(session.cell.id)
      const staircase = await climb(session, p99Ms, effort, {
        start: closedLoop * (ratio ?? START),
        stride: ratio === undefined ? SEARCH_STRIDE : CONFIRM_STRIDE,
        maxSteps: ratio === undefined ? effort.searchSteps : effort.confirmSteps,
      })
      const limit = highestKept(staircase.steps)
      if (limit !== null) found.set(session.cell.id, limit / closedLoop)
    },
  }
}

/** One staircase, to its end. */
async function climb(
  session: Session,
  p99Ms: number,
  { step }: CapacityEffort,
  options: StaircaseOptions,
): Promise<Staircase> {
  let staircase = createStaircase(options)
  const trials: Trial[] = []
  for (let rate = nextRate(staircase); rate !== null; rate = nextRate(staircase)) {
    const load = {
      purpose: 'level',
      level: levelOf(rate),
      rate,
      durationMs: durationFor(99, rate, 1, step),
    } as const
    const trial = await session.take(load)
    trials.push(trial)
    staircase = advance(staircase, outcomeOf(trial, p99Ms, isCrowdedSearch(trials, p99Ms)).outcome)
  }
  return staircase
}

/** `41250/s` */
function levelOf(rate: number): Trial['level'] {
  return `${rate}/s`
}

/** A search mostly settles after three quarters of its steps. */
const USUAL_PART = 0.75

function expectedMs(cell: Cell, launch: number, effort: CapacityEffort): number {
  const rate = assumedRate(cell)
  const most = launch === 1 ? effort.searchSteps : effort.confirmSteps
  const step = durationFor(99, rate, 1, effort.step)
  const steps = Array.from({ length: Math.round(most * USUAL_PART) }, () => step)
  return launchMs(cell, [capacityMs(rate, cell), ...steps])
}
