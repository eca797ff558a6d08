import type { BodyExpectation } from '../http/expectation.ts'
import type { LoadPhase, LoadPlan } from './options.ts'

/** What the parent tells the child, one JSON text per line. The end of the stream ends the child. */
export type ToChild =
  /** A load, or one generator's part of it. */
  | { take: LoadPlan; phases: boolean }
  /** `at`: when the load begins, in milliseconds of the child's `sharedNow`. Absent: now. */
  | { go: true; at?: number }
  | { clock: true }
  | { learn: LearnPlan }
  | { abort: true }

/** Where one request is sent to learn what a response is. */
export type LearnPlan = Pick<LoadPlan, 'target' | 'reach' | 'timeoutMs'> & { path: string }

/** What the child sends, one JSON text per line: `ready` once, then one line per load or request. A load with phases waits at each of them for `go`. */
export type FromChild =
  | { ready: true }
  | { phase: LoadPhase }
  /** A measurement as `v8.serialize` writes it, in base64: JSON has neither typed arrays nor infinity. */
  | { measured: string }
  /** Milliseconds of the child's `sharedNow`. */
  | { clock: number }
  | { learnt: BodyExpectation }
  | { error: string }
