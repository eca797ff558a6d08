import type { AutocannonLoad } from './autocannon-tally.ts'

export interface AutocannonPlan {
  url: string
  connections: number
  durationMs: number
  timeoutMs: number
  /** The expected one; others are errors. */
  status: number
}

/** What the parent tells the child. */
export type ToChild = { run: AutocannonPlan } | { abort: true }

/** What the child sends: `ready` once, then one message per load. */
export type FromChild = { ready: true } | { load: AutocannonLoad } | { error: string }
