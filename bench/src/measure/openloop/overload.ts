import {
  assumedRate,
  capacityMs,
  durationFor,
  launchMs,
  type OverloadEffort,
  overloadConnections,
} from '../../experiment/open-loop-effort.ts'
import { recoveredAfter } from '../../judge/openloop/overload-figures.ts'
import type { LoadSpec } from '../../judge/trial.ts'
import type { Cell } from '../../model/cell.ts'
import type { Trial } from '../../model/heat.ts'
import type { OpenLoopResult } from '../../model/result.ts'
import type { Method } from './session.ts'

/** The offered rate, as a multiple of the closed-loop rate. */
const FACTOR = 2

/** The rate before and after, as a part of it. */
const HALF = 0.5

/** A right response after more than this, in milliseconds, is of no use to the client. */
const PATIENCE_MS = 5000

/** Twice what a cell can do, for seconds; before and after that half of it. */
export function overloadMethod({ settings }: OpenLoopResult, effort: OverloadEffort): Method {
  const beforeMs = (capacity: number) => durationFor(99, capacity * HALF, 1, effort.before)
  return {
    launches: settings.heats,
    expectedMs: (cell) => expectedMs(cell, beforeMs(assumedRate(cell)), effort),
    measure: async (session) => {
      const capacity = await session.capacity()
      const calm = { level: '50 %', rate: capacity * HALF } as const
      const before = await session.take({ ...calm, purpose: 'level', durationMs: beforeMs(capacity) })
      const overload = await session.take(overloadOf(capacity, settings.sliceMs))
      const recovery: Trial[] = []
      while (
        recovery.length < effort.recoveries &&
        recoveredAfter({ before, overload, recovery }, settings.sliceMs) === null
      ) {
        const load = { durationMs: effort.recoveryMs, seriesMs: windowMs(capacity * HALF) }
        recovery.push(await session.take({ ...calm, ...load, purpose: 'recovery' }))
      }
    },
  }
}

function overloadOf(capacity: number, durationMs: number): LoadSpec {
  return {
    purpose: 'overload',
    level: `${FACTOR}×`,
    rate: capacity * FACTOR,
    durationMs,
    connections: overloadConnections(capacity),
    timeoutMs: PATIENCE_MS,
    histograms: true,
  }
}

/** 100 ms, longer where that would be too few responses for a p99. */
function windowMs(rate: number): number {
  return Math.round(Math.min(1000, Math.max(100, 100_000 / rate)))
}

/** The queue of an overload of twice the capacity takes as long to drain as it took to build. */
function expectedMs(cell: Cell, beforeMs: number, { overloadMs, recoveryMs }: OverloadEffort): number {
  return launchMs(cell, [capacityMs(assumedRate(cell), cell), beforeMs, 2 * overloadMs, recoveryMs])
}
