import type { GateResult } from '../../model/figures.ts'
import { judgeConformance } from './conformance.ts'
import { judgeErrors } from './errors.ts'
import type { Evidence } from './evidence.ts'
import { judgeInterference } from './interference.ts'
import { judgeLittlesLaw } from './littles-law.ts'
import { judgeResponses } from './responses.ts'
import { judgeServerBound } from './server-bound.ts'
import { judgeWarmup } from './warmup.ts'

export type { Evidence } from './evidence.ts'

/** Before a number of a race is printed, it passes these gates; open loops have `judgeOfferedLoad` besides. */
export function judgeCell(evidence: Evidence): GateResult[] {
  return [
    judgeConformance(evidence),
    judgeErrors(evidence),
    judgeResponses(evidence),
    judgeServerBound(evidence),
    judgeInterference(evidence),
    judgeWarmup(evidence),
    judgeLittlesLaw(evidence),
  ]
}

/** Whether the number may be used: no gate failed. */
export function isVoided(gates: readonly GateResult[]): boolean {
  return gates.some(({ verdict }) => verdict === 'failed')
}
