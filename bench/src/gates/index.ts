import type { GateResult } from '../figures.ts'
import { judgeAnswers } from './answers.ts'
import { judgeConformance } from './conformance.ts'
import { judgeErrors } from './errors.ts'
import type { Evidence } from './evidence.ts'
import { judgeLittle } from './little.ts'
import { judgeOurs } from './ours.ts'
import { judgeServerBound } from './server-bound.ts'
import { judgeWarm } from './warm.ts'

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
