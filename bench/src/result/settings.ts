import type { AllCores, Cores as FirstCores } from '@startgrid/machine/cores.ts'

/** How much is measured, and on which cores. */

/** A stretch of load: as long as its samples need, within these ends. In milliseconds. */
export interface Span {
  minMs: number
  maxMs: number
}

/** Numbers of logical CPUs: the first ones of servers and generators, and all of them where there may be several. */
export type Cores = FirstCores & Partial<AllCores>

export interface Settings {
  /** Of effort; `custom` if something of it was given otherwise. */
  profile: 'quick' | 'default' | 'full' | 'custom'
  /** Planned per race: each is one launch of every system. */
  heats: number
  /** Planned passes per heat: each measures every cell once. */
  slices: number
  /** Planned length of a slice, in milliseconds. */
  sliceMs: number
  /** Time after which no heat is begun, in milliseconds; null without a limit. */
  maxTimeMs: number | null
  /** Null where processes cannot be kept apart. */
  cores: Cores | null
  /** How long an open loop lasts; null where no latency is asked for. */
  openLoop: Span | null
  /** Half-width of intervals, as a part of 1, for which the number of heats is chosen after the first ones; absent: all are planned. */
  precision?: number
}
