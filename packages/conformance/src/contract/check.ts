import type { Probe } from './probe.ts'

export type Role = 'hello' | 'ssr' | 'status'

export const ROLES: readonly Role[] = ['hello', 'ssr', 'status']

/** What an app may lack, as the last section of the contract says. */
export type Capability = 'stream' | 'pipelined-stream'

export const CAPABILITIES: readonly Capability[] = ['stream', 'pipelined-stream']

/** The headings of docs/contract.md. */
export type Section =
  | 'Routes'
  | 'Everything else'
  | 'Headers'
  | 'What differs between two equal answers'
  | 'Connections'
  | 'Absent capabilities'

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
  /** Compares with the built page of this repository; skipped where it was not built. */
  needsPage?: true
  run(probe: Probe): Promise<void>
}
