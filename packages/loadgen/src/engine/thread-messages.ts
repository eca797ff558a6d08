import type { Target } from '../http/target.ts'
import type { Progress } from '../report/progress.ts'
import type { Measurement } from './measurement.ts'
import type { Share } from './shares.ts'

/** What a thread is told. `open` prepares a load: its connections are opened. `start` begins it, in all threads at the same time of `clock.ts`. */
export type ToThread = { open: Share; target: Target } | { start: number } | { abort: true }

/** What a thread sends: `opened` once to each `open`, `progress` now and then, one of the other two at the end. */
export type FromThread =
  | { opened: true }
  | { progress: Progress }
  | { measurement: Measurement }
  /** Why the load cannot be run: a sentence. */
  | { error: string }
