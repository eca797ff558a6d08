import type { ErrorCounts } from '../report/result.ts'
import type { LoopReport } from './loop-watch.ts'
import type { Recording } from './recorder.ts'
import type { Interval } from './series.ts'

/** What one thread measured, as plain data that can be sent to another. */
export interface Measurement {
  /** Whole answers to counted requests. */
  requests: number
  seconds: number
  errors: ErrorCounts
  bytes: number
  checked: number
  statuses: Record<string, number>
  /** From the intended send time. */
  latency: Recording
  /** Null in closed loop, where it is the same as `latency`. */
  service: Recording | null
  arrivals: Arrivals | null
  /** Null if none was asked for. */
  intervals: Interval[] | null
  /** CPU seconds of the whole process, and of this thread. */
  processSeconds: number
  threadSeconds: number
  loop: LoopReport
}

/** How an open loop kept to its schedule. */
export interface Arrivals {
  /** Seconds in which requests were to be sent. */
  seconds: number
  /** Requests that were due in that time. */
  due: number
  /** Of these: sent in that time. */
  sent: number
  /** Of these: reached by the polling loop only after that time. */
  late: number
  /** How late the polling loop came to each. */
  lag: Recording
}
