import type { GateResult } from '../../model/figures.ts'
import { judgeConformance } from './conformance.ts'
import { judgeErrors } from './errors.ts'
import type { Evidence } from './evidence.ts'
import { judgeOurs } from './interference.ts'
import { judgeLittle } from './littles-law.ts'
import { judgeAnswers } from './responses.ts'
import { judgeServerBound } from './server-bound.ts'
import { judgeWarm } from './warmup.ts'

export type { Evidence } from './evidence.ts'

/** Before a number of a race is printed, it passes these gates; open loops have `judgeOffered` besides. */
export function judgeCell(evidence: Evidence): GateResult[] {
  return [
    judgeConformance(evidence),
    judgeErrors(evidence),
    judgeAnswers(evidence),
    judgeServerBound(evidence),
    judgeOurs(evidence),
    judgeWarm(evidence),
    judgeLittle(evidence),
  ]
}

/** Whether the number may be used: no gate failed. */
export function isVoided(gates: readonly GateResult[]): boolean {
  return gates.some(({ verdict }) => verdict === 'failed')
}
