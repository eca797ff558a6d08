import type { GateName, GateResult } from '../../model/figures.ts'

/** The four ways in which a gate ends. Findings are clauses without the full stop, advice is a sentence. */

export function passed(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'passed', finding, advice: null }
}

export function failed(gate: GateName, finding: string, advice: string): GateResult {
  return { gate, verdict: 'failed', finding, advice }
}

export function unknown(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'unknown', finding, advice: null }
}

export function notMeant(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'not meant', finding, advice: null }
}
