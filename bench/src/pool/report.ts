import type { PoolRun } from './settings.ts'

/** A line of the output of the program that measures a pool, as JSON. */
export type Report =
  /** Messages that got a response so far, those of the warm-up too. */
  | { kind: 'progress'; done: number }
  /** The warm-up is over. */
  | { kind: 'begun' }
  | { kind: 'ended'; run: PoolRun }

/** Messages before the clock starts, so that all workers run and the code is compiled; a launch is at its final cost after a second. */
export const WARMUP = 20_000
