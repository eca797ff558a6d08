import type { Topology } from '@startgrid/grid/apps.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Claim, Costs, Step } from './experiment.ts'
import type { MainMetric, Metric } from './metrics.ts'
import type { Why } from './profile.ts'

/**
 * What follows from the measured: plain data, part of the result. Intervals are of 95 %; figures are means over launches, geometric if they have an
 * interval. Null: not known, or not measured.
 */

/** What follows from the heats of an experiment. */
export interface Analysis {
  /** Of races of commands. */
  findings: Finding[]
  cells: CellFigures[]
  /** Of races that rank apps: comparisons within a topology. */
  races: RaceFigures[]
  /** What NGINX in front costs, for every app of these that was measured both ways. */
  proxyCosts: ProxyCost[]
  /** Requests per second of the open loops, of races that have them. */
  openRates: { race: string; rate: number }[]
  claims: ClaimResult[]
  steps: StepResult[]
  costs?: CostsResult[]
  /** Of findings that were profiled. */
  whys?: Why[]
  /** Since which commit both ends differ. */
  since?: Since
}

/** The figures of one cell; none if it is void. */
export interface CellFigures {
  cell: string
  race: string
  system: string
  /** Those with at least one slice that counts. */
  launches: number
  /** Slices that count. */
  slices: number
  /** Null where no latency was asked for. */
  openLoop: OpenLoop | null
  figures: Partial<Record<Metric, Interval>>
  /** CPU seconds per request, apart. */
  cpu: { app: number | null; proxy: number | null }
  /** Part of their cores that server and proxy used, 0 to 1. */
  coreUse: number | null
  /** Highest resident memory of all launches, in bytes. */
  peakMemory: { app: number | null; proxy: number | null }
  /** Connections per request that NGINX opened to the app. */
  upstreamConnections: number | null
  /** What its connections over TLS agreed on. */
  handshakes?: string[]
  /** Why it does not count: a clause without the full stop; null if it does. */
  void: string | null
}

export interface OpenLoop {
  /** Launches of which the latency counts. */
  launches: number
  /** Why the latency does not count: a clause without the full stop; null if it does. */
  voidedBecause: string | null
  /** Not given, because a late generator has a part in more than half of the launches. */
  late?: Metric[]
}

/** The cells of one race in one topology, compared by one metric. */
export interface RaceFigures {
  race: string
  topology: Topology
  metric: MainMetric
  /** The cell that `ratios` refer to. */
  baseline: string
  /** Best first, from 1; void cells and twins are not in it. */
  ranks: { cell: string; from: number; to: number }[]
  /** Each cell over the baseline, not adjusted for multiplicity. */
  ratios: { cell: string; ratio: Interval }[]
  /** All of them. */
  pairs: Pair[]
  /** Null if there is no twin. */
  control: Control | null
  /** The smallest ratio above 1 that a typical pair had shown at 80 % power: alone, and with Holm's correction over all pairs. */
  smallestEffect: { single: number; adjusted: number } | null
}

/** Cell `a` over cell `b`. */
export interface Pair {
  a: string
  b: string
  ratio: Interval
  /** Two-sided; null with one launch. */
  p: number | null
  /** After Holm's correction over the pairs of the race. */
  pAdjusted: number | null
}

/** The A/A twin over the app that it equals; 1 is right. */
export interface Control {
  twin: string
  original: string
  ratio: Interval
  p: number | null
  /** p < 0.005: there was a difference where none exists. */
  suspect: boolean
}

/** An app behind NGINX over itself without, by differences within a launch. */
export interface ProxyCost {
  app: string
  race: string
  topology: Topology
  metric: MainMetric
  ratio: Interval
}

export type Verdict =
  | 'holds'
  | 'direction holds, size differs'
  | 'direction holds, size undecided'
  | 'not reproduced here'
  | 'undecided here'

/** What becomes of a claim (`Claim`). */
export interface ClaimResult extends Omit<Claim, 'published' | 'because'> {
  /** The published ratio. */
  published: number
  /** Ours. */
  ratio: Interval | null
  verdict: Verdict
  /** Why it is undecided: a clause without the full stop; null if it is not. */
  undecided: string | null
  /** Why it comes out so, as measured: sentences; null if nothing is said. */
  because: string | null
}

/** What a step costs (`Step`). */
export interface StepResult extends Omit<Step, 'ratios'> {
  /** CPU seconds per request. */
  cpu: { from: number; to: number } | null
  /** The second over the first. */
  ratio: Interval | null
  /** Of the metrics that its table has instead. */
  ratios?: Partial<Record<Metric, Interval | null>>
}

/** CPU seconds per request by amount of work. */
export interface CostCurve {
  /** Heats in which all of it was measured. */
  heats: number
  /** Of a request without any work, from the line through the points; null for one point. */
  fixed: Interval | null
  /** For each unit of work more. */
  perUnit: Interval | null
  points: { amount: number; cost: Interval }[]
}

/** What ways to serve cost, and the differences of pairs, heat by heat: negative where the first costs less. */
export interface CostsResult extends Pick<Costs, 'title' | 'race'> {
  lines: (CostCurve & { name: string })[]
  pairs: (CostCurve & { over: string; under: string })[]
}

/** What a launch that does not count found of one race of commands. */
export interface PilotRecord {
  race: string
  /** Requests per second at saturation, or CPU per request where a system does not fill its cores. */
  decides: MainMetric
  /** Discarded after each launch, of all systems, in milliseconds. */
  warmupMs: number
  systems: {
    system: string
    /** Bytes of a response's body that differ between its own, so that they were not compared; of a mixture, all paths together. */
    masked: number
    /** Its cost was not falling any more when the pilot ended. */
    steady: boolean
    /** Part of its cores, 0 to 1. */
    coreUse: number | null
  }[]
  /** How systems' responses differ: a clause without what they send; null if they are equal. */
  difference: string | null
}

/** Two systems of a race of commands. */
export interface Finding {
  race: string
  /** As the pilot found, unless others took too much of the core. */
  decides: MainMetric
  /** Part of the servers' core that others used in all slices, 0 to 1. */
  taken: number | null
  over: string
  under: string
  /** It equals the other one: a control, which is not tested. */
  isTwin: boolean
  /** How often both were started and measured. */
  starts: number
  /** Of what decides. With those of all other pairs, at all looks, it holds the truth in 95 %. */
  ratio: Interval | null
  /** They differ, or do not within the margin, or it is not known; null if it was not tested: a twin, or fewer than 5 starts. */
  verdict: 'differs' | 'alike' | 'open' | null
  /** Starts with which it would probably be known; null if it is, or more than a race may have. */
  needed: number | null
  /** One of them stops responding for long: how many seconds in the typical start, and how many the other one does. */
  stall?: { system: string; seconds: number; other: number }
  /** The ratio of all requests that count to all seconds, or of CPU to requests; null if it is not known. Not tested. */
  whole: number | null
  /** Of other metrics; not tested. */
  others: { metric: Metric; ratio: Interval }[]
}

/** A search for the commit since which a server is slower or faster, as it is stored. Nobody's name is in it. */
export interface Commit {
  hash: string
  title: string
  /** ISO 8601. */
  date: string
  /** Of heats in which it was raced with both ends. */
  starts: Start[]
  /** Why it could not be raced: a clause. */
  skipped?: string
}

/** Logarithms of what decides: requests per second, or requests per second of CPU. */
export type Start = readonly [good: number, own: number, bad: number]

/** What follows from it. */
export interface Since {
  /** One by one, its speed as a part of the good one's, and how probable it is that a change came with it. */
  commits: (Omit<Commit, 'starts'> & { ratio: Interval | null; starts: number; probability: number })[]
  /** One, or two of which the order is known. */
  steps: SinceStep[]
  /** How probable it is that there is more than one. */
  several: number
}

export interface SinceStep {
  /** Hashes that together have 95 %, the most probable first. */
  set: string[]
  /** Speed after it as a part of that before; null with fewer than two starts. */
  change: Interval | null
}
