import type { ErrorCounts } from '../report/result.ts'
import type { LoopReport } from './loop-watch.ts'
import type { Recording } from './recorder.ts'

/** What one generator measured, as plain data that can be sent to another process. */
export interface Measurement {
  /** Complete responses to counted requests. */
  requests: number
  seconds: number
  errors: ErrorCounts
  bytes: number
  checked: number
  statuses: Record<string, number>
  /** As in `LoadResult`. */
  handshakes: Record<string, number>
  /** Measured from the time when the request was due. */
  latency: Recording
  /** Null in closed loop, where it is the same as `latency`. */
  service: Recording | null
  arrivals: Arrivals | null
  /** CPU seconds of the whole process. */
  cpuSeconds: number
  loop: LoopReport
}

/** How an open loop kept to its schedule. */
export interface Arrivals {
  /** Seconds in which requests were due. */
  seconds: number
  /** Requests that were due in that time. */
  due: number
  /** How many of these were sent in that time. */
  sent: number
  /** How many of these the polling loop handled only after that time. */
  late: number
  /** How late the polling loop handled each request. */
  lag: Recording
}
