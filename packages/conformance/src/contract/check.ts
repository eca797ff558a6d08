import type { Probe } from './probe.ts'
import type { Capability, Role, Section } from './subject.ts'

/** One line of the contract as something to try. */
export interface Check {
  name: string
  section: Section
  /** Which apps it applies to; all without it. */
  roles?: readonly Role[]
  /** Skipped where one of these is absent. */
  needs?: readonly Capability[]
  /** Only where this is absent. */
  lacks?: Capability
  /** Only where the caller can read the log. */
  needsLog?: true
  /** Compares with the built page of this repository; skipped where it was not built. */
  needsPage?: true
  run(probe: Probe): Promise<void>
}
