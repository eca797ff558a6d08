import type { Latency } from '@startgrid/loadgen/recording.ts'
import type { ErrorCounts } from '@startgrid/loadgen/result.ts'
import type { CpuSeconds, Disturbance } from '@startgrid/machine/accounts.ts'
import type { Figures } from './experiment.ts'

/** What was measured: heats, with their launches, slices and open loops. `cell` is always the id of a cell. */

/** The cells of one race, started together, warmed, measured, stopped. */
export interface Heat {
  race: string
  /** From 1, per race. */
  heat: number
  /** From the first start to the last stop. */
  seconds: number
  /** What was started; each is one launch, the unit of replication. */
  launches: LaunchRecord[]
  /** In the order in which they were measured, the discarded warm-up first. */
  slices: Slice[]
  /** Open loops, in the order in which they were measured, after the slices. */
  trials: Trial[]
  /** Of open loops: requests per second, as the first heat found, and cells for which that is more than 90 % of what they can do. */
  commonRate: { rate: number; tooSlow: string[] } | null
  /** Of races without load: what a program of the study measured. */
  probes: Probe[]
  /** What went wrong: a clause without the full stop. */
  failures: { cell: string; reason: string }[]
}

/** What was started. Memory is resident, in bytes. */
export interface LaunchRecord {
  /** As `app` of its cells; `nginx` is the one in front of all. */
  app: string
  /** Seconds from its start to its first right response; absent if not measured. */
  startup?: number
  /** When it was ready; absent if not measured. */
  readyMemory?: number
  /** Those of a command that work; absent where the system does not tell. */
  processes?: number
  /** The same of threads, where there are several. */
  threads?: number
  /** Node is one of them, so that functions can be named. */
  isNode?: true
  /** The highest until the end of the heat; null where the system does not tell. */
  peakMemory: number | null
}

/** What every stretch of load says. */
interface Stretch {
  cell: string
  /** Seconds from the beginning of the heat. */
  at: number
  /** From the first send to the last response. */
  seconds: number
  /** Whole responses. */
  requests: number
  /** Responses whose body was compared. */
  checked: number
  /** Only kinds that occurred. */
  errors: Partial<ErrorCounts>
  /** From the accounting of the kernel. */
  cpuSeconds: CpuSeconds
  disturbance: Disturbance
  /** Others visibly took more than 20 % of its time. It does not count, unless most of its kind are so. */
  disturbed: boolean
  /** Seconds that a request waited for its response at most; absent without responses, and in older results. */
  longest?: number
}

/** One stretch of closed-loop load on one cell, as a part of a pass. */
export interface Slice extends Stretch {
  /** `warmup` is discarded. */
  phase: 'warmup' | 'measure'
  /** In which pass over the cells of its heat, from 1; null in the warm-up. */
  pass: number | null
  /** Absent in older results of the grid. */
  detail?: {
    /** Of a response with its headers, on average. */
    bytes?: number
    /** What connections over TLS agreed on. */
    handshakes?: string[]
    /** Connections that were opened on this machine beside the generator's own; null where the system does not tell. */
    otherConnections: number | null
  }
}

/** One stretch of open-loop load on one launch. Latencies count from when a request was due. */
export interface Trial extends Stretch {
  /** Requests per second that were due. */
  offered: number
  /** Responses per second. */
  achieved: number
  /** Mean latency, in milliseconds; null if nothing got a response. */
  meanMs: number | null
  /** How late requests were sent, in milliseconds: the doing of the generator. Null if nothing got a response. */
  lag: Pick<Latency, 'p99'> | null
  /** Latencies in nanoseconds as an HdrHistogram V2, compressed, base64; null if there is none. */
  histogram: string | null
  /** Of lag, in the same form. */
  lagHistogram: string | null
  /** The generator could not offer the load. */
  generatorBound: boolean
}

export interface Probe {
  cell: string
  figures: Figures
}
