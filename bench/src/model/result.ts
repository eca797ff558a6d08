import type { Role, Topology } from '@startgrid/grid/apps.ts'
import type { Capability } from '@startgrid/grid/frameworks.ts'
import type { ErrorCounts } from '@startgrid/loadgen'
import type { CpuSeconds, Disturbance } from '@startgrid/machine/accounts/sample.ts'
import type { Machine } from '@startgrid/machine/machine.ts'
import type { Versions } from '@startgrid/machine/provenance.ts'
import type { Analysis, CapacityFigures, LatencyFigures, OverloadFigures } from './figures.ts'
import type { Warning } from './warnings.ts'

/**
 * A run as it is stored: bench/result.schema.json describes it for other programs. What was measured (`heats`, `trials`) is
 * kept apart from what follows from it (`analysis` and its like), which `pnpm bench report` makes again.
 */
export interface Run<Spec extends Cell = Cell> {
  schema: 4
  kind: ResultKind | 'study'
  mode: Mode
  /** Null in other modes than `target`. */
  target: TargetRecord | null
  /** ISO 8601, UTC. */
  startedAt: string
  /** Null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats it. */
  command: string
  seed: number
  machine: Machine
  versions: Versions
  /** Null if none was needed or found. */
  nginx: NginxVersion | null
  driver: DriverRecord
  settings: Effort
  warnings: Warning[]
  cells: Spec[]
  /** The contract's suite, once per cell before the first heat. */
  conformance: ConformanceRecord[]
  /** In the order in which they ran. */
  heats: Heat[]
}

/** What every result of the grid has. */
interface GridRun extends Run<CellSpec> {
  kind: ResultKind
  /** Null in other modes than `kubernetes`. */
  cluster: ClusterRecord | null
  settings: Settings
}

export interface RaceResult extends GridRun {
  kind: 'rate'
  analysis: Analysis | null
}

interface OpenLoopRun extends GridRun {
  kind: 'capacity' | 'latency' | 'overload'
  /** Stretches of load, in the order in which they ran. */
  trials: Trial[]
}

export interface CapacityResult extends OpenLoopRun {
  kind: 'capacity'
  analysis: CapacityFigures[] | null
}

export interface LatencyResult extends OpenLoopRun {
  kind: 'latency'
  analysis: LatencyFigures[] | null
}

export interface OverloadResult extends OpenLoopRun {
  kind: 'overload'
  analysis: OverloadFigures[] | null
}

export type OpenLoopResult = CapacityResult | LatencyResult | OverloadResult

/** A result of the grid, by what was measured. Figures are null until there are any. */
export type Result = RaceResult | OpenLoopResult

export function isRace(result: Result): result is RaceResult {
  return result.kind === 'rate'
}

/**
 * How the servers ran: `native` as processes of this machine, `docker` as containers, `kubernetes` in a pod of a cluster, `target`
 * somewhere, before the run began and after it. Figures of unlike modes never share a table.
 */
export type Mode = 'native' | 'docker' | 'kubernetes' | 'target'

/** Where in a cluster it ran. */
export interface ClusterRecord {
  /** Of the kubeconfig; null is the current one. */
  context: string | null
  namespace: string
  /** What was asked for: the name of a node, or labels of nodes; null leaves it to the scheduler. */
  serverNode: string | null
  generatorNode: string | null
  generators: number
  /** Kubernetes, such as `v1.34.1`; null until the run is prepared. */
  version: string | null
  nodes: ClusterNode[]
  /** Milliseconds to open a connection from the first generator to the node of the servers, the median; null if not measured. */
  roundTripMs: number | null
  /** The CPU seconds of the agent beside the servers, and the seconds of load in which it used them. */
  agent: { cpuSeconds: number; seconds: number }
  /** Why loads did not count and were offered again: a clause each. */
  voided: string[]
}

export interface ClusterNode {
  name: string
  role: 'servers' | 'generators'
  /** CPUs that pods may use there. */
  cpus: number[]
  /** The boot id of its kernel: nodes with the same one are one machine. Null if it cannot be read. */
  bootId: string | null
  machine: Machine
}

/** The server that already ran. */
export interface TargetRecord {
  /** `http://10.0.0.9:3000` */
  origin: string
  /** What it lacks, as the user says. The suite skips that. */
  absent: Capability[]
}

export type ResultKind = 'rate' | 'capacity' | 'latency' | 'overload'

export interface NginxVersion {
  /** `path`, `docker` or `download`. */
  kind: string
  version: string
  njs: { version: string; engine: string } | null
}

/** What offered the load. */
export interface DriverRecord {
  name: 'startgrid' | 'wrk' | 'autocannon'
  version: string
  /** Responses per second against NGINX's `return 200`, measured in this run; null if not measured. */
  ceiling: number | null
}

/** How much is measured, where. */
export interface Effort {
  /** Planned per race: each one launch of every app. */
  heats: number
  /** Passes per heat: each measures every cell once. */
  slices: number
  sliceMs: number
  maxTimeMs: number | null
  /** The cores of the servers and of the generator; null where processes cannot be kept apart. */
  cores: { server: number; generator: number } | null
}

export interface Settings extends Effort {
  profile: 'quick' | 'default' | 'thorough' | 'custom'
  /** How often heats were added to a run that was complete, with `--resume`. */
  extensions: number
  /** Rest before every heat but the first, in milliseconds; 0 where each heat starts its apps. */
  pauseMs: number
  /** With `--precision`: the 95 % half-width, as a part of 1, at which it stops; else null. */
  precision: number | null
  /** Of kind `capacity`: the bound on p99, in milliseconds. */
  p99Ms: number | null
}

/** What the contract's suite found. */
export interface ConformanceRecord {
  cell: string
  /** Checks that were made. */
  checked: number
  /** What is wrong, a line each; nothing if it conforms. */
  differences: string[]
  /** Proven by an earlier run of the same code on this machine. */
  remembered: boolean
}

/** What one number belongs to, as far as it is started, loaded and judged. */
export interface Cell {
  /** `fastify/hello direct`; a twin is `fastify/hello#2 direct`. */
  id: string
  /** Cells of one race are started together and compared with each other: in the grid, those of one role. */
  race: string
  /** `fastify/hello`, or `fastify/hello#2` for its twin: what was launched. A server that already ran is `target/hello`. */
  app: string
  /** The contract that its app keeps; null where none covers it. */
  role: Role | null
  topology: Topology
  /** njs only, `njs in NGINX 1.22.1`: unlike engines are never compared as one. */
  engine: string | null
  /** Method and path; null where a program of its own measures instead of load. */
  workload: string | null
  /** Kept open, each with one request in flight. */
  connections: number
  /** Discarded after each launch: at least this many milliseconds of load on this cell, */
  warmupMs: number
  /** and until it served this many requests, but at most twice that time. */
  warmupRequests: number
  /** Milliseconds of a slice at least, where a study asks for longer ones. */
  leastSliceMs?: number
  /** Whether the number only counts while server and proxy use their whole core. Clusters and pools declare false. */
  serverBound: boolean
  /** Why it was not tried: the machine lacks a tool. Null for all others. */
  skipped: string | null
}

/** A cell of the grid. */
export interface CellSpec extends Cell {
  framework: string
  role: Role
  /** The app that this one equals: A/A. Null for all others. */
  twinOf: string | null
  workload: string
}

/** The cells of one race, started together, warmed, measured in passes, stopped. */
export interface Heat {
  race: string
  /** From 1, per race. */
  heat: number
  startedAt: string
  /** From the first start to the last stop. */
  seconds: number
  /** What was started; each is one launch, the unit of replication. */
  launches: LaunchRecord[]
  /** In the order in which they were measured, the discarded warm-up first. */
  slices: Slice[]
  /** Cells that were still cold in earlier heats, and got more slices of warm-up in this one. */
  moreWarmup: { cell: string; slices: number }[]
  /** Before each pass: CPU seconds of a spin of always the same work on the servers' core. */
  spins: { pass: number; cpuSeconds: number }[]
  /** What went wrong, by cell: a sentence without the full stop. */
  failures: { cell: string; reason: string }[]
  /** Of clusters in studies: how many requests each worker served, from its start to its end. */
  spreads?: Spread[]
}

export interface Spread {
  cell: string
  requests: number[]
}

export interface LaunchRecord {
  /** `fastify/hello`; `fastify/hello on a socket` if it is a launch of its own; `nginx` is the one in front of all. */
  app: string
  /** Highest resident bytes of its processes until the end of the heat; null where the system does not tell. */
  peakMemory: number | null
  /** Of a command: seconds from its start to its first right response, and resident bytes then. */
  startup?: number
  readyMemory?: number
}

/** One stretch of load on one cell. */
export interface Slice {
  cell: string
  phase: 'warmup' | 'measure'
  /** Seconds since the heat began. */
  at: number
  /** From the first send to the last response. */
  seconds: number
  /** Whole responses. */
  requests: number
  /** Responses whose body was compared; by foreign drivers in a short load right before the slice. */
  checked: number
  /** Only kinds that occurred. */
  errors: Partial<ErrorCounts>
  /** Seconds from a request to its response's last byte. In a closed loop it restates the rate (Little's law), and checks it. */
  meanLatency: number
  cpuSeconds: CpuSeconds
  /** Parts of the slice's time, 0 to 1; null where the system does not tell. */
  disturbance: Disturbance
  /** Others visibly took more than 20 % of the time. It does not count, unless too few slices would remain. */
  disturbed: boolean
  /** From 1: in which pass over the cells of its heat; null in the warm-up. */
  pass: number | null
  /** What studies ask for besides. */
  detail?: SliceDetail
}

export interface SliceDetail {
  /** Seconds; null where the generator does not tell. */
  latency: { p50: number; p975: number | null; p99: number }
  /** Rates of whole seconds; empty for slices that are shorter than three. */
  secondRates: number[]
  /** Connections that were opened on this machine beside the generator's own; null where the system does not tell. */
  otherConnections: number | null
}

/** One stretch of open-loop load (or of closed-loop load that finds the capacity) on one launch. */
export interface Trial {
  cell: string
  /** From 1, per cell: which start of the app. */
  launch: number
  /** `capacity`: closed loop, how much the cell can do just now. `level`: a stated rate. `recovery`: after an overload. */
  purpose: 'capacity' | 'level' | 'overload' | 'recovery'
  /** The level as the report names it: `25 %`, `50 %`, `75 %`, `common`, `2×`, or a rate of the staircase. */
  level: string
  at: number
  seconds: number
  /** Requests per second; null in closed loop. */
  offered: number | null
  achieved: number
  requests: number
  checked: number
  errors: Partial<ErrorCounts>
  cpuSeconds: CpuSeconds
  disturbance: Disturbance
  disturbed: boolean
  /** Milliseconds at the percentile. Corrected: from the intended send time. */
  latency: PercentilesMs | null
  service: PercentilesMs | null
  /** How late requests were sent, the generator's own doing. */
  lag: PercentilesMs | null
  /** HdrHistogram V2, compressed, base64, in nanoseconds: corrected latency and schedule lag. */
  histogram: string | null
  lagHistogram: string | null
  generatorBound: boolean
  /** Of recoveries: window by window. */
  series: TrialWindow[] | null
}

export interface TrialWindow {
  /** Seconds since the load began. */
  at: number
  seconds: number
  /** Responses that were due in it, and their corrected p99 in milliseconds. */
  requests: number
  p99: number
}

export interface PercentilesMs {
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

/** A stretch of load: as long as its samples need, within these ends. */
export interface Span {
  minMs: number
  maxMs: number
}
