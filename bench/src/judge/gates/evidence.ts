import type { Cell, ConformanceRecord } from '../../model/cell.ts'
import type { GateName, GateResult } from '../../model/figures.ts'
import type { Slice } from '../../model/heat.ts'
import type { DriverRecord } from '../../model/provenance.ts'
import type { Mode } from '../../model/result.ts'
import type { Settings } from '../../model/settings.ts'

/** What gates ask about a slice. */
export type JudgedSlice = Omit<Slice, 'pass'>

/** What gates ask about a cell. */
export type Judged = Pick<
  Cell,
  'id' | 'app' | 'twinOf' | 'role' | 'topology' | 'connections' | 'warmupMs' | 'serverBound' | 'cores'
>

/** All that the gates may look at for one cell of a race: plain data, no figures that depend on how they are combined. */
export interface Evidence {
  /** In mode `target` there is one launch alone, and its heats take the place of launches. */
  mode: Mode
  cell: Judged
  /** What the contract's suite said; null if it has not been run on this cell. */
  conformance: Pick<ConformanceRecord, 'checked' | 'differences'> | null
  /** Slices by launch, in the order in which they were measured: warm-up, measurement, those that others disturbed too. */
  launches: readonly (readonly JudgedSlice[])[]
  /** Those of them that count. */
  counted: readonly (readonly JudgedSlice[])[]
  /** Launches of which all slices count, because others disturbed most of them. */
  crowded: number
  /** Its first slices cost more: by this ratio, and whether the later ones were steady. Undefined if they did not, null if nobody tested it. */
  cold: { ratio: number; steady: boolean } | undefined | null
  /** Why it could not go on, in heats where it could not: a clause each, without the full stop. */
  failures: readonly string[]
  driver: DriverRecord
  /** Null where processes cannot be kept apart. */
  cores: Settings['cores']
  /** Part of this virtual machine's CPU that its host took during the run, as far as its kernel knows. */
  stolen: number
}

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
