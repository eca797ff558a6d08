import type { CellSpec, ConformanceRecord, DriverRecord, Settings, Slice } from '../results.ts'

/** All that the gates may look at for one cell of a race: plain data, no figures that depend on how they are combined. */
export interface Evidence {
  cell: CellSpec
  /** What the contract's suite said; null if it has not been run on this cell. */
  conformance: Pick<ConformanceRecord, 'checked' | 'differences'> | null
  /** Slices by launch, in the order in which they were measured: warm-up, measurement, repeats, those that others disturbed too. */
  launches: readonly (readonly Slice[])[]
  /** Why it could not go on, in heats where it could not: a clause each, without the full stop. */
  failures: readonly string[]
  driver: DriverRecord
  /** Null where processes cannot be kept apart. */
  cores: Settings['cores']
}
