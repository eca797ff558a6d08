import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Figures, Metric } from './experiment.ts'
import type { GateResult, ScalingResult } from './figures.ts'
import type {
  Cell,
  ClusterRecord,
  DriverRecord,
  Effort,
  Heat,
  NginxVersion,
  Result,
  Run,
  Span,
  Trial,
} from './result.ts'

/** What reports need of a run: everything but the slices. */
export interface StudyRecord extends Omit<Run<StudyCell>, 'conformance' | 'heats'> {
  kind: 'study'
  /** Where it ran, of mode `kubernetes` alone. */
  cluster?: ClusterRecord
  study: string
  profile: StudyProfile
  settings: StudySettings
  /** Null unless `--as-published`. */
  published: PublishedFigures[] | null
  /** Of `pnpm bench race`: what was raced, and what a launch that does not count found. */
  race?: RaceRecord
  /** What follows from the heats. */
  analysis: StudyAnalysis | null
}

/** A run of one study as it is stored. Its `nginx` is the usual one; single systems may have another. */
export interface StudyResult extends StudyRecord, Pick<Run, 'conformance'> {
  heats: StudyHeat[]
}

/** What a file of a run has, whatever was measured. */
export type StoredResult = Result | StudyResult

export type StudyProfile = 'quick' | 'full'

export interface StudySettings extends Effort {
  /** How long an open-loop load may last; as long as its percentiles need, within these ends. */
  openLoop: Span
  cores: StudyCores | null
}

/** Logical CPUs. */
export interface StudyCores {
  /** Where systems of one core stay: the first of `servers`. */
  server: number
  /** What the servers may use. */
  servers: number[]
  generator: number
}

/** One system in one race: `app` is the system. */
export interface StudyCell extends Cell {
  title: string
  generator: DriverRecord['name']
  leastSliceMs: number
  /** Whether its latency is measured in open loop. */
  openLoop: boolean
  /** Cores that it can keep busy, and that it had. */
  cores: { wanted: number; given: number }
  /** What it runs in or behind; null for what has none, and where there is none. */
  nginx: NginxVersion | null
}

/** Besides what every heat has, what only studies measure. */
export interface StudyHeat extends Heat {
  /** Null where nobody's latency is asked for. */
  openLoop: StudyOpenLoop | null
  /** What probes measured. */
  probes: StudyProbe[]
}

/** Latencies at one rate for all, measured after the slices. */
export interface StudyOpenLoop {
  /** Requests per second: what the first heat found, the same in all of them. */
  rate: number
  /** Cells that were not asked, because the rate is more than 90 % of what they can do. */
  tooSlow: string[]
  loads: StudyOpenLoad[]
}

/** As `pnpm bench latency` stores its loads, with the mean of the corrected latency in milliseconds. */
export type StudyOpenLoad = Trial & { meanMs: number }

export interface StudyProbe {
  cell: string
  figures: Figures
  /** The part of all cores that others used meanwhile, 0 to 1; null where it is not known. */
  foreign: number | null
}

/** One run of the source's own tool. */
export interface PublishedFigures {
  race: string
  system: string
  tool: 'wrk' | 'autocannon'
  /** The command, with URL in place of the address. */
  command: string
  connections: number
  rate: number
  /** Seconds. */
  latency: { mean: number; p50: number; p975: number | null; p99: number }
  /** The median of the rates of single seconds; null for wrk, which does not tell. */
  medianRate: number | null
  /** By kind; the figures are shown marked if there is any. */
  errors: Record<string, number>
  /** Why there are no figures; then they are 0. */
  failure: string | null
}

/** What a race is made again from. No value of a header or of the environment is in it. */
export interface RaceRecord {
  systems: { name: string; command: string | null; url: string | null; commit: string | null }[]
  requests: { name: string; method: string; path: string; headers: string[]; bodyBytes: number | null }[]
  connections: number
  /** The half-width of intervals, as a part of 1, for which the number of heats is chosen after the first ones; null: all are planned. */
  precision: number | null
  /** Empty until it is measured. */
  pilots: PilotRecord[]
}

/** What a launch that does not count found of one race. */
export interface PilotRecord {
  race: string
  /** Requests per second at saturation, or CPU per request where a system does not fill its cores. */
  decides: 'rate' | 'cpu'
  /** Discarded after each launch, of all systems. */
  warmupMs: number
  systems: {
    system: string
    /** Part of the bytes that differ between its own responses, 0 to 1. */
    masked: number
    /** Of a response's body, on average. */
    bytes: number
    /** False if its cost was still falling when the pilot ended. */
    steady: boolean
    /** Part of its cores, 0 to 1; null where it is not known. */
    coreUse: number | null
  }[]
  /** How systems' responses differ: a sentence; null if they are equal. */
  difference: string | null
}

/** Two systems of a race. */
export interface Finding {
  race: string
  decides: PilotRecord['decides']
  over: string
  under: string
  /** Of what decides; null if it was not measured. */
  ratio: Interval | null
  /** By Holm, over all findings; null without an interval. */
  pAdjusted: number | null
  /** The smallest ratio above 1 that is found in 4 of 5 runs. */
  smallest: number | null
  /** Not tested. */
  others: { metric: Metric; ratio: Interval }[]
}

export interface StudyAnalysis {
  /** Of `pnpm bench race`. */
  findings?: Finding[]
  cells: StudyFigures[]
  /** Requests per second of the open loop, of the races that have one. */
  openRates: { race: string; rate: number }[]
  claims: ClaimResult[]
  steps: StepResult[]
  scaling: ScalingResult[]
}

export interface StudyFigures {
  race: string
  system: string
  /** Launches that count. */
  launches: number
  /** Launches of which the open-loop latency counts, and why it is void if it is; null where it was not asked for. */
  openLoop: { launches: number; voidedBecause: string | null } | null
  /** Geometric means over launches. */
  figures: Partial<Record<Metric, Interval>>
  /** Seconds per request, means over launches. */
  cpu: { app: number | null; proxy: number | null }
  /** Part of their cores that the servers used, 0 to 1. */
  coreUse: number | null
  /** Connections per request that NGINX opened to the app. */
  upstreamConnections: number | null
  /** Parts of the requests, 0 to 1, that the least and the most busy worker of a cluster served, means over heats. */
  workerShares: { least: number; most: number } | null
  gates: GateResult[]
  voided: boolean
}

export interface ClaimResult {
  id: string
  says: string
  race: string
  metric: Metric
  over: string
  under: string
  published: number
  /** Ours; null if it was not measured. */
  ratio: Interval | null
  /** Of a latency, that in closed loop: shown, and decides nothing. */
  closedLoop: Interval | null
  verdict: Verdict
  /** Of an undecided claim: a clause without the full stop. */
  undecided: string | null
  /** As measured; sentences. */
  because: string | null
}

export interface StepResult {
  what: string
  race: string
  from: string
  to: string
  /** Seconds of CPU per request; null if not measured. */
  cpu: { from: number; to: number } | null
  ratio: Interval | null
}

/** What becomes of a claim. */
const VERDICTS = [
  'holds',
  'direction holds, size differs',
  'direction holds, size undecided',
  'not reproduced here',
  'undecided here',
] as const

export type Verdict = (typeof VERDICTS)[number]
