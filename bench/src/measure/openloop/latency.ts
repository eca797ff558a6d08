import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import {
  assumedRate,
  COMMON,
  capacityMs,
  commonRate,
  durationFor,
  type LatencyEffort,
  launchMs,
  MOST_PART,
  OWN_LEVELS,
  shareOf,
} from '../../experiment/open-loop-effort.ts'
import { closedLoopOf } from '../../judge/trial.ts'
import type { Cell } from '../../model/cell.ts'
import { type OpenLoopResult, trialsOf } from '../../model/result.ts'
import type { Method, Session } from './session.ts'

/**
 * Percentiles at fixed rates. The closed-loop rate is measured beside every level, because it drifts, and levels are taken in random
 * order. For the common rate all cells are started once before, and only asked for their closed-loop rate.
 * @param rate the common one, in requests per second; null finds one per role
 */
export function latencyMethod(result: OpenLoopResult, effort: LatencyEffort, rate: number | null): Method {
  const { heats } = result.settings
  const surveys = effort.common && rate === null ? 1 : 0
  const levels = [...OWN_LEVELS.keys(), ...(effort.common || rate !== null ? [COMMON] : [])]
  const random = createRandom(result.seed)
  /** By role, once it is known: it is the same for all launches. */
  const common = new Map<Cell['role'], number | null>()
  const commonOf = (role: Cell['role']): number | null => {
    if (rate !== null) return rate
    if (!common.has(role)) common.set(role, rateOfRole(result, role, effort))
    return common.get(role) ?? null
  }
  const durationAt = (one: number) => durationFor(effort.percentile, one, shareOf(heats), effort.level)
  const take = async (session: Session, level: string): Promise<void> => {
    const capacity = await session.capacity()
    const part = OWN_LEVELS.get(level)
    const own = part === undefined ? commonOf(session.cell.role) : capacity * part
    if (own === null || own > capacity * MOST_PART) return
    await session.take({ purpose: 'level', level, rate: own, durationMs: durationAt(own), histograms: true })
  }
  return {
    launches: heats + surveys,
    expectedMs: (cell, launch) => {
      const closedLoop = capacityMs(assumedRate(cell), cell)
      if (launch <= surveys) return launchMs(cell, [closedLoop])
      const rateAt = (level: string) => assumedRate(cell) * (OWN_LEVELS.get(level) ?? 0.25)
      return launchMs(
        cell,
        levels.flatMap((level) => [closedLoop, durationAt(rateAt(level))]),
      )
    },
    measure: async (session, launch) => {
      if (launch <= surveys) await session.capacity()
      else for (const level of shuffle(levels, random)) await take(session, level)
    },
  }
}

/**
 * The common rate of the cells of a role, by the closed-loop rates so far. Cells that are too slow for p99 at half their capacity do not
 * count: at their rate no percentile of any cell could be printed.
 * @returns requests per second, in whole tens; null if no cell counts
 */
export function rateOfRole(
  result: Pick<OpenLoopResult, 'cells' | 'heats' | 'settings'>,
  role: Cell['role'],
  { level }: Pick<LatencyEffort, 'level'>,
): number | null {
  const neededMs = durationFor(99, 1, shareOf(result.settings.heats), {
    minMs: 0,
    maxMs: Number.POSITIVE_INFINITY,
  })
  const trials = trialsOf(result)
  const least = neededMs / level.maxMs
  const capacities = result.cells
    .filter((cell) => cell.role === role)
    .flatMap((cell) => closedLoopOf(cell, trials) ?? [])
  return commonRate(capacities, least)
}
