import { checkConformance } from '@startgrid/conformance'
import type { Target } from '@startgrid/grid/launcher.ts'
import { proofOf, RUNS } from '../conformance.ts'
import type { Contract, Proof } from '../environment.ts'

/** The contract's suite in this process. @throws {Error} if it cannot run */
export async function proveHere(target: Target, contract: Contract, signal: AbortSignal): Promise<Proof> {
  return proofOf(await checkConformance({ target, ...contract, runs: RUNS, signal }))
}
