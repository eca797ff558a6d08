import type { Role, Topology } from '@startgrid/grid/apps.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'

/**
 * What follows from the measured: `analyse` makes it, reports show it. Plain data, part of the result. In mode `target` nothing is
 * launched: there, what is said of launches holds for heats of one launch.
 */

/** Responses per second, or CPU seconds of server and proxy per request. */
export type Metric = 'rate' | 'cpu'

export interface Analysis {
  cells: CellFigures[]
  races: Race[]
  /** Per app with both: behind NGINX over direct, by differences within a launch. */
  proxyCosts: ProxyCost[]
}

/** The figures of one cell; all null if it is voided (with `--keep-voided` they are given all the same). */
export interface CellFigures {
  cell: string
  /** Launches with at least one slice that counts. */
  launches: number
  /** Slices that count. */
  slices: number
  /** Slices that others visibly disturbed. They do not count, unless they are most of a launch. */
  disturbed: number
  /** Geometric mean over launches, responses per second. */
  rate: Interval | null
  /** Seconds per request, geometric mean over launches of server plus proxy. */
  cpu: Interval | null
  /** Seconds per request, mean over launches; apart. */
  cpuParts: { app: number | null; proxy: number | null; generator: number | null }
  /** Server plus proxy: part of their core in use, 0 to 1. */
  coreUse: number | null
  /** Bytes, highest of all launches. */
  peakMemory: { app: number | null; proxy: number | null }
  /**
   * Seconds from a request to its response's last byte, mean over the responses of slices that count. In a closed loop it restates the rate
   * (Little's law). Null if nothing counts.
   */
  meanLatency: number | null
  /** Of slices that count, in all launches. */
  errors: number
  gates: GateResult[]
  /** A gate failed: the number may not be used. */
  voided: boolean
}

export type GateName =
  | 'conformance'
  | 'errors'
  | 'responses'
  | 'server-bound'
  | 'interference'
  | 'warmup'
  | 'littles-law'
  | 'offered-load'

export interface GateResult {
  gate: GateName
  /** `unknown`: the system does not tell (macOS), or the driver does not. `not meant`: the cell or mode declares so. */
  verdict: 'passed' | 'failed' | 'unknown' | 'not meant'
  /** What was found, in words with figures: `server and proxy used 71 % of their core`. */
  finding: string
  /** What to do about a failure: a sentence. Null unless failed. */
  advice: string | null
}

/** All cells of one role in one topology, compared by one metric. */
export interface Race {
  role: Role
  topology: Topology
  metric: Metric
  /** The cell that `ratios` refer to. */
  baseline: string
  /** Best first; voided cells and twins are not in it. */
  ranks: { cell: string; from: number; to: number }[]
  /** Each cell over the baseline, not adjusted for multiplicity. */
  ratios: { cell: string; ratio: Interval }[]
  /** All pairs, `a` over `b`. */
  pairs: Pair[]
  /** The twin over the app it equals; null if there is no twin. */
  control: Control | null
  /** The smallest ratio above 1 that this race had shown at 80 % power, for a typical pair, without and with Holm. Null with one launch. */
  smallestEffect: { single: number; adjusted: number } | null
  /** Coefficient of variation of launches, pooled, as a part of 1. */
  launchSpread: number | null
}

export interface Pair {
  a: string
  b: string
  ratio: Interval
  /** Two-sided, and the same after Holm's correction over the pairs of the race; null with one launch. */
  p: number | null
  pAdjusted: number | null
}

export interface Control {
  twin: string
  original: string
  ratio: Interval
  p: number | null
  /** p < 0.005: there was a difference where none exists. */
  suspect: boolean
}

export interface ProxyCost {
  app: string
  role: Role
  topology: Topology
  metric: Metric
  ratio: Interval
}

/** The highest open-loop rate that kept the bound. */
export interface CapacityFigures {
  cell: string
  /** Requests per second; null if not even the lowest step kept the bound, or it is voided. */
  rate: Interval | null
  /** Fresh launches that confirmed it, of those tried. */
  confirmed: number
  tried: number
  /** What closed-loop load reached on the same launches. */
  closedLoop: number | null
  /** The staircase, for the report. */
  steps: { launch: number; rate: number; p99Ms: number | null; kept: boolean; reason: string | null }[]
  voidedBecause: string | null
}

export interface LatencyFigures {
  cell: string
  levels: LatencyLevel[]
  voidedBecause: string | null
}

export interface LatencyLevel {
  /** `25 %`, `50 %`, `75 %` of the cell's own capacity, or `common`. */
  level: string
  /** Requests per second, mean over launches. */
  offered: number
  achieved: number
  launches: number
  requests: number
  percentiles: LatencyPercentile[]
  /** For the curve: corrected latency in milliseconds by percentile. */
  curve: { percentile: number; ms: number }[]
  lagP99Ms: number | null
  voidedBecause: string | null
}

export interface LatencyPercentile {
  /** 50, 90, 99, 99.9, 99.99 */
  percentile: number
  /** Milliseconds; null if it may not be printed. */
  ms: number | null
  low: number | null
  high: number | null
  /** Samples beyond it. */
  beyond: number
  /** `too few samples`, or `the generator was late`. */
  withheld: string | null
}

export interface OverloadFigures {
  cell: string
  /** Requests per second that the cell can do in closed loop. */
  capacity: number | null
  offered: number | null
  /** Right responses within the timeout, per second, and as a part of the capacity. */
  goodput: Interval | null
  goodputShare: number | null
  p99Ms: number | null
  /** Errors by kind during the overload: here they are a finding, not a reason to void. */
  errors: Record<string, number>
  /** Until p99 over 100 ms at half the capacity is back within twice its level before; null if it did not within the time allowed. */
  recoverySeconds: number | null
  launches: number
  voidedBecause: string | null
}

/** How a rate grows with the number of workers. */
export interface ScalingResult {
  title: string
  race: string
  /** Against one worker. `cores`: those that the workers had. */
  points: { workers: number; ratio: Interval; cores: number }[]
}
