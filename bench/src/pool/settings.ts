import type { PoolLibrary } from '@startgrid/worker-pool/config.ts'

/** What one launch of a pool is measured with. */
export interface PoolSettings {
  library: PoolLibrary
  runtime: 'node' | 'bun'
  /** Workers. */
  size: number
  /** Counted ones; those of the warm-up come on top. */
  messages: number
  pace: Pace
  /** Messages that a worker is sent before it has replied to the first: piscina's `concurrentTasksPerWorker`. qoper8-cp has 1. */
  tasksPerWorker: number
}

/** When the next messages are handed to the pool. */
export type Pace = InFlight | Blocks

/** As soon as one gets a response the next one follows: needs no tuning. */
export interface InFlight {
  kind: 'in-flight'
  /** How many are waiting or being handled. */
  count: number
}

/** As qoper8-cp's own benchmark does: so many at once, then a pause that adjusts itself. */
export interface Blocks {
  kind: 'blocks'
  length: number
  /** The first pause, in milliseconds. */
  delayMs: number
}

/** What one launch came to, as the process itself sees it. */
export interface PoolRun {
  /** Messages per second. */
  rate: number
  seconds: number
  /** Messages that each worker handled, the busiest first. */
  perWorker: number[]
  /** The most messages that waited for a worker at any time. */
  longestQueue: number
  /** CPU seconds per second of the thread that hands out the messages: near 1 it is what limits the rate. */
  mainBusy: number
  /** Milliseconds: the pause at the end, where it adjusts itself. */
  delayMs: number | null
  /** Of Node or Bun. */
  version: string
}

/** With what the system says. */
export interface PoolResult extends PoolRun {
  /** CPU seconds per message, workers and all; null where the system does not tell (Linux does). */
  cpuPerMessage: number | null
  /** The part of all cores that others used meanwhile, 0 to 1; null where the system does not tell. */
  foreign: number | null
}
