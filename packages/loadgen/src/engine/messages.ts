import type { BodyExpectation } from '../http/expectation.ts'
import type { LoadResult } from '../report/result.ts'
import type { LoadPhase, LoadPlan } from './options.ts'

/** What the parent tells the child, one JSON text per line. The end of the stream ends the child. */
export type ToChild =
  | { run: LoadPlan; phases?: boolean }
  | { go: true }
  | { learn: LearnPlan }
  | { abort: true }

/** Where one request is sent to learn what a response is. */
export type LearnPlan = Pick<LoadPlan, 'target' | 'reach' | 'timeoutMs'> & { path: string }

/** What the child answers, one JSON text per line: `ready` once, then one line per load or request. A load with phases waits at each of them for `go`. */
export type FromChild =
  | { ready: true }
  | { phase: LoadPhase }
  | { result: LoadResult }
  | { learnt: BodyExpectation }
  | { error: string }
