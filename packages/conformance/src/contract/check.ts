import type { Probe } from './probe.ts'
import type { Capability, Role } from './subject.ts'

/** One line of the contract, as a test. */
export interface Check {
  name: string
  /** The roles it applies to; default all. */
  roles?: readonly Role[]
  /** Skipped if this is absent. */
  needs?: Capability
  /** Runs only if the caller can read the log. */
  needsLog?: true
  /** Runs only if the caller says that a proxy in front compresses. */
  needsCompression?: true
  run(probe: Probe): Promise<void>
}
