/** How much is measured, and on which cores. */

/** A stretch of load: as long as its samples need, within these ends. In milliseconds. */
export interface Span {
  minMs: number
  maxMs: number
}

/** Numbers of logical CPUs. */
export interface Cores {
  /** Of app and proxy. */
  server: number
  /** All of the servers, the first of them `server`; absent where it is the only one. */
  servers?: number[]
  /** Of the load generator. */
  generator: number
  /** All of the load generator, the first of them `generator`; absent where it is the only one. */
  generators?: number[]
}

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
