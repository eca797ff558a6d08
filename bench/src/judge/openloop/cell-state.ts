import type { Cell, OpenLoopResult, Trial } from '../../model/result.ts'
import { keepQuiet } from '../gates/interference.ts'
import { geometricMean } from './interval.ts'

/** What the figures of all three commands ask of a cell. */

/** Why a cell has no open-loop figures at all, whatever was measured: a clause without the full stop. @returns null if it may have */
export function whyNotMeasured({ id, skipped }: Cell, { conformance, heats }: OpenLoopResult): string | null {
  if (skipped !== null) return skipped
  const [difference] = conformance.find(({ cell }) => cell === id)?.differences ?? []
  if (difference !== undefined) return `it does not keep the contract: ${difference}`
  const failures = heats.flatMap((heat) => heat.failures)
  return failures.find(({ cell }) => cell === id)?.reason ?? null
}

/** The closed-loop rate over all launches that count, in responses per second; null without one. */
export function closedLoopOf({ id }: Pick<Cell, 'id'>, trials: readonly Trial[]): number | null {
  const own = trials.filter(({ cell, purpose }) => cell === id && purpose === 'capacity')
  const { kept } = keepQuiet(own, ({ disturbed }) => !disturbed)
  return kept.length > 0 ? geometricMean(kept.map(({ achieved }) => achieved)) : null
}
