import { ROLES, TOPOLOGIES } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import Type, { type TSchema } from 'typebox'
import {
  Analysis,
  CapacityFigures,
  CellFigures,
  GateResult,
  Interval,
  LatencyFigures,
  OverloadFigures,
  PilotRecord,
  PublishedFigures,
  StudyAnalysis,
} from './figures.ts'
import { count, flag, list, number, object, oneOf, orNull, record, type Static, text } from './schema.ts'
import { Warning } from './warnings.ts'

/**
 * A run as it is stored: bench/result.schema.json has it for other programs. What was measured (`heats`) is kept apart from what follows from it
 * (`analysis`), which `pnpm bench report` makes again.
 */

const CELL = 'Identifier of the cell, as in `cells`.'
const CLAUSE = 'a sentence without the full stop'

const Machine = object(
  {
    cpu: text('Model of the first CPU.'),
    cores: count('CPUs that the run may use.'),
    memoryBytes: count('Memory of the machine, in bytes.'),
    os: text('Name and version of the system.'),
    kernel: text('Name, version and architecture of the kernel.'),
    governor: orNull(
      Type.String(),
      'CPU frequency governor; null where the kernel does not say (virtual machines, macOS).',
    ),
  },
  'Where it was measured.',
)

const Versions = object(
  {
    startgrid: text('Commit, with -dirty after it if files differ from it.'),
    node: text('Version of Node.'),
    bun: text('Version of Bun.'),
    lockfile: text('First 16 hexadecimal digits of the SHA-256 of the lockfile.'),
    packages: record(Type.String(), 'Version by package.'),
  },
  'What was measured.',
)

export type NginxVersion = Static<typeof NginxVersion>
const NginxVersion = object({
  kind: text('Where it was found: path, docker, download or kubernetes.'),
  version: text('Version of NGINX.'),
  njs: orNull(
    object({
      version: text('Version of njs.'),
      engine: text('JavaScript engine: qjs is QuickJS, njs the old one.'),
    }),
    'Its njs module; null without one.',
  ),
})

export type ClusterNode = Static<typeof ClusterNode>
const ClusterNode = object({
  name: text('Name of the node.'),
  role: oneOf(['servers', 'generators'], 'What ran there.'),
  cpus: list(Type.Integer(), 'CPUs that pods may use there.'),
  bootId: orNull(
    Type.String(),
    'Boot id of its kernel: nodes with the same one are one machine; null if it cannot be read.',
  ),
  machine: Machine,
})

/** Where in a cluster it ran. */
export type ClusterRecord = Static<typeof ClusterRecord>
const ClusterRecord = object({
  context: orNull(Type.String(), 'Context of the kubeconfig; null is the current one.'),
  namespace: text('Namespace of its pods.'),
  serverNode: orNull(
    Type.String(),
    'What was asked for, the name of a node or labels of nodes; null leaves it to the scheduler.',
  ),
  generatorNode: orNull(Type.String(), 'The same for the generators.'),
  generators: count('Pods that offered each load together.'),
  version: orNull(Type.String(), 'Version of Kubernetes, such as v1.34.1; null until the run is prepared.'),
  nodes: list(ClusterNode, 'The nodes that were used, that of the servers first.'),
  roundTripMs: orNull(
    Type.Number(),
    'Milliseconds to open a connection from the first generator to the node of the servers, the median; null if not measured.',
  ),
  agent: object(
    {
      cpuSeconds: number('CPU time in seconds.'),
      seconds: number('The seconds in which it used that.'),
    },
    'What the agent beside the servers used while there was load.',
  ),
  voided: list(Type.String(), 'Why loads did not count and were offered again: a clause each.'),
})

/** The server that already ran. */
export type TargetRecord = Static<typeof TargetRecord>
const TargetRecord = object({
  origin: text('Where it is, such as http://10.0.0.9:3000.'),
  absent: list(
    Type.Enum([...new Set(CATALOGUE.flatMap(({ absent }) => absent.map(({ capability }) => capability)))]),
    'What it lacks, as the user says. The suite of the contract skips that.',
  ),
})

const DRIVERS = ['startgrid', 'wrk', 'autocannon'] as const

/** What offered the load. */
export type DriverRecord = Static<typeof DriverRecord>
const DriverRecord = object(
  {
    name: oneOf(DRIVERS, 'Which load generator.'),
    version: text('Version of the load generator.'),
    ceiling: orNull(
      Type.Number(),
      "Responses per second against NGINX's `return 200`, measured in this run; null if not measured.",
    ),
  },
  'What offered the load.',
)

/** A stretch of load: as long as its samples need, within these ends. */
export type Span = Static<typeof Span>
const Span = object({
  minMs: number('At least, in milliseconds.'),
  maxMs: number('At most, in milliseconds.'),
})

/** Logical CPUs. */
export type Cores = Static<typeof Cores>
const Cores = object({
  server: Type.Integer({ description: 'Number of the CPU of app and proxy.' }),
  servers: Type.Optional(
    list(
      Type.Integer(),
      'All CPUs of the servers, the first of them `server`; absent where it is the only one.',
    ),
  ),
  generator: Type.Integer({ description: 'Number of the CPU of the load generator.' }),
})

/** How much is measured, where. */
export type Settings = Static<typeof Settings>
const Settings = object(
  {
    profile: oneOf(
      ['quick', 'default', 'thorough', 'full', 'custom'],
      'Profile of effort; `custom` if something of it was given otherwise.',
    ),
    heats: count('Planned per race: each is one launch of every system.'),
    extensions: count('How often heats were added to a run that was complete, with `--resume`.'),
    slices: count('Planned passes per heat: each measures every cell once.'),
    sliceMs: number('Planned length of a slice, in milliseconds.'),
    pauseMs: number(
      'Rest before every heat but the first, in milliseconds; 0 where each heat starts its servers.',
    ),
    precision: orNull(
      Type.Number(),
      'With `--precision`: the half-width of the 95 % interval at which it stops, as a part of 1; else null.',
    ),
    maxTimeMs: orNull(
      Type.Number(),
      'Time after which no heat is begun, in milliseconds; null without a limit.',
    ),
    cores: orNull(Cores, 'Which CPUs were used; null where processes cannot be kept apart.'),
    p99Ms: orNull(Type.Number(), 'Of kind capacity: the bound on p99, in milliseconds; else null.'),
    openLoop: orNull(Span, 'Of studies: how long an open loop lasts; else null.'),
  },
  'How it was measured.',
)

/** What the contract's suite found. */
export type ConformanceRecord = Static<typeof ConformanceRecord>
const ConformanceRecord = object({
  cell: text(CELL),
  checked: count('Checks that were made.'),
  differences: list(Type.String(), 'What is wrong, a line each; nothing if it conforms.'),
  remembered: flag('Proven by an earlier run of the same code on this machine.'),
})

/** What one number belongs to: a system in a race. */
export type Cell = Static<typeof Cell>
const Cell = object({
  id: text('`fastify/hello direct`, of a twin `fastify/hello#2 direct`; of a study its race and system.'),
  race: text(
    'Cells of one race are started together and compared with each other: in the grid, those of one role.',
  ),
  system: text('Its name in the experiment.'),
  app: text(
    'What is launched: `fastify/hello`, `fastify/hello#2` for its twin, the system of a study. A server that already ran is `target/hello`.',
  ),
  title: text('As tables name it: the framework, `node#2` for a twin, or what a study calls it.'),
  role: orNull(Type.Enum(ROLES), 'The contract that it keeps; null where none covers it.'),
  topology: oneOf(TOPOLOGIES, 'How requests reach it.'),
  protocol: oneOf(['http/1.1', 'h2'], 'What the generator speaks.'),
  twinOf: orNull(Type.String(), 'The `app` that this one equals (A/A); null for all others.'),
  engine: orNull(
    Type.String(),
    'Of njs in the grid, `njs in NGINX 1.22.1`: unlike engines are never compared as one. Null for all others.',
  ),
  nginx: orNull(NginxVersion, 'Of studies: what it runs in or behind; null where there is none.'),
  workload: orNull(
    Type.String(),
    'Method and path; null where a program of its own measures instead of load.',
  ),
  connections: count('Connections kept open, each with one request in flight.'),
  generator: oneOf(DRIVERS, 'What offers its load.'),
  openLoop: flag('Of studies: its latency is measured in open loop as well.'),
  warmupMs: number('Load on this cell after each launch that is discarded, in milliseconds.'),
  warmupRequests: count(
    'The warm-up goes on until so many requests got a response, but at most twice its time.',
  ),
  leastSliceMs: number('A slice is at least as long, in milliseconds; 0 where nothing asks for longer ones.'),
  cores: object(
    { wanted: count('How many it can keep busy.'), given: count('How many it had.') },
    'Cores of the servers.',
  ),
  serverBound: flag('The number only counts while server and proxy use all of their cores.'),
  sheds: Type.Optional(
    flag('Of kind overload: it refuses pages under pressure, as in production. Absent: it never does.'),
  ),
  skipped: orNull(Type.String(), 'Why it was not tried: the machine lacks a tool; null for all others.'),
})

/** What was started. */
export type LaunchRecord = Static<typeof LaunchRecord>
const LaunchRecord = object({
  app: text(
    'As `app` of its cells; `fastify/hello on a socket` if that is a launch of its own; `nginx` is the one in front of all.',
  ),
  startup: Type.Optional(
    number('From its start to its first right response, in seconds; absent if not measured.'),
  ),
  readyMemory: Type.Optional(number('Resident memory when it was ready, in bytes; absent if not measured.')),
  processes: Type.Optional(count('Those of a command that work; absent where the system does not tell.')),
  peakMemory: orNull(
    Type.Number(),
    'Highest resident memory of its processes until the end of the heat, in bytes; null where the system does not tell.',
  ),
})

const Errors = object(
  {
    connect: Type.Optional(count('Connections that could not be opened.')),
    reset: Type.Optional(count('Connections that ended before their response did.')),
    timeout: Type.Optional(count('No whole response within the time allowed.')),
    status: Type.Optional(count('Another status than expected.')),
    body: Type.Optional(count('The expected status, but another length or content.')),
    parse: Type.Optional(count('Not HTTP, or more bytes than announced.')),
  },
  'Failed requests by kind; only kinds that occurred are listed.',
)

const secondsOf = (what: string) =>
  orNull(Type.Number(), `${what}, in seconds; null where the system does not tell.`)

const CpuSeconds = object(
  {
    app: secondsOf('Of the processes that serve the app'),
    proxy: secondsOf('Of the NGINX in front (0 for the topology direct)'),
    generator: secondsOf('Of the load generator'),
  },
  'CPU used during the stretch, from the accounting of the kernel.',
)

const partOf = (what: string) =>
  orNull(Type.Number(), `${what}: part of the time, 0 to 1; null where the system does not tell.`)

const Disturbance = object(
  {
    serverWait: partOf('Server or proxy was ready to run but waited for somebody else than each other'),
    generatorWait: partOf('The generator was ready to run but waited'),
    serverForeign: partOf('CPU that others used on the core of the servers'),
    generatorForeign: partOf('CPU that others used on the core of the generator'),
  },
  'What others did meanwhile.',
)

export type SliceDetail = Static<typeof SliceDetail>
const SliceDetail = object(
  {
    latency: object(
      {
        p50: number('In seconds.'),
        p975: orNull(Type.Number(), 'In seconds; null where the generator does not tell.'),
        p99: number('In seconds.'),
      },
      'From a request to its response, in closed loop.',
    ),
    secondRates: list(
      Type.Number(),
      'Responses of each whole second; empty for slices that are shorter than three.',
    ),
    bytes: Type.Optional(number('Of a response with its headers, on average.')),
    handshakes: Type.Optional(
      list(Type.String(), 'What connections over TLS agreed on, and whether they resumed a session.'),
    ),
    otherConnections: orNull(
      Type.Number(),
      "Connections that were opened on this machine beside the generator's own; null where the system does not tell.",
    ),
  },
  'What studies ask for besides.',
)

/** What every stretch of load says. */
const STRETCH = {
  cell: text(CELL),
  at: number('Seconds from the beginning of the heat.'),
  seconds: number('From the first send to the last response, in seconds.'),
  requests: count('Whole responses.'),
  checked: count(
    'Responses whose body was compared; by foreign generators in a short load right before the slice.',
  ),
  errors: Errors,
  cpuSeconds: CpuSeconds,
  disturbance: Disturbance,
  disturbed: flag(
    'Others visibly took more than 20 % of its time. It does not count, unless most of its kind are so.',
  ),
}

/** One stretch of closed-loop load on one cell, as a part of a pass. */
export type Slice = Static<typeof Slice>
const Slice = object({
  ...STRETCH,
  phase: oneOf(['warmup', 'measure'], '`warmup` is discarded.'),
  meanLatency: number(
    'From a request to the last byte of its response, in seconds. In a closed loop it restates the rate, and checks it.',
  ),
  pass: orNull(Type.Integer(), 'In which pass over the cells of its heat, from 1; null in the warm-up.'),
  detail: Type.Optional(SliceDetail),
})

export type PercentilesMs = Static<typeof PercentilesMs>
const PercentilesMs = object(
  {
    p50: number('Median, in milliseconds.'),
    p90: number('90th percentile, in milliseconds.'),
    p99: number('99th percentile, in milliseconds.'),
    p999: number('99.9th percentile, in milliseconds.'),
    max: number('Largest value, in milliseconds.'),
  },
  'Percentiles of a distribution of times, in milliseconds.',
)

const TrialWindow = object({
  at: number('Seconds since the load began.'),
  seconds: number('Length of the window, in seconds.'),
  requests: count('Responses that were due in it.'),
  p99: number('Their corrected p99, in milliseconds.'),
})

/** One stretch of open-loop load (or of closed-loop load that finds the capacity) on one launch. */
export type Trial = Static<typeof Trial>
const Trial = object({
  ...STRETCH,
  launch: Type.Integer({ description: 'Which start of the app, from 1, per cell.' }),
  purpose: oneOf(
    ['capacity', 'level', 'overload', 'recovery'],
    '`capacity`: closed loop, how much the cell can do just now. `level`: a stated rate. `recovery`: after an overload.',
  ),
  level: text('As the report names it: `25 %`, `common`, `2×`, or a rate of the staircase.'),
  offered: orNull(Type.Number(), 'Requests per second that were due; null in closed loop.'),
  achieved: number('Responses per second.'),
  meanMs: orNull(
    Type.Number(),
    'Mean of the corrected latency, in milliseconds; null if nothing got a response.',
  ),
  latency: orNull(
    PercentilesMs,
    'Corrected latency, from the intended send time; null if nothing got a response or in closed loop.',
  ),
  service: orNull(PercentilesMs, 'Service time, from the actual send time; null if nothing got a response.'),
  lag: orNull(PercentilesMs, 'How late requests were sent, the doing of the generator; null in closed loop.'),
  histogram: orNull(
    Type.String(),
    'Corrected latency in nanoseconds as an HdrHistogram V2, compressed, base64; null if there is none.',
  ),
  lagHistogram: orNull(Type.String(), 'Schedule lag, in the same form; null if there is none.'),
  generatorBound: flag('The generator could not offer the load.'),
  refused: Type.Optional(
    count('Responses 503, by which an app sheds load; they are also in `errors`. Absent: none.'),
  ),
  series: orNull(Type.Array(TrialWindow), 'Of recoveries: window by window; null for all others.'),
})

export type Probe = Static<typeof Probe>
const Probe = object({
  cell: text(CELL),
  figures: record(Type.Number(), 'By metric.'),
  foreign: orNull(
    Type.Number(),
    'Part of all cores that others used meanwhile, 0 to 1; null where it is not known.',
  ),
})

export type Spread = Static<typeof Spread>
const Spread = object({
  cell: text(CELL),
  requests: list(Type.Integer(), 'Of each worker, from its start to its end.'),
})

/** The cells of one race, started together, warmed, measured, stopped. */
export type Heat = Static<typeof Heat>
const Heat = object({
  race: text('Which race, as in `cells`.'),
  heat: Type.Integer({ description: 'From 1, per race.' }),
  startedAt: text('ISO 8601, UTC.'),
  seconds: number('From the first start to the last stop, in seconds.'),
  launches: list(LaunchRecord, 'What was started; each is one launch, the unit of replication.'),
  slices: list(Slice, 'In the order in which they were measured, the discarded warm-up first.'),
  trials: list(Trial, 'Open loops, in the order in which they were measured, after the slices.'),
  commonRate: orNull(
    object({
      rate: number('Requests per second: what the first heat found, the same in all of them.'),
      tooSlow: list(
        Type.String(),
        'Cells that were not asked, because the rate is more than 90 % of what they can do.',
      ),
    }),
    'Of races with open loops: one rate for all; null for all others.',
  ),
  probes: list(Probe, 'Of races without load: what a program of the study measured.'),
  moreWarmup: list(
    object({ cell: text(CELL), slices: count('How many more slices of warm-up.') }),
    'Cells that were still cold in earlier heats, and got more warm-up in this one.',
  ),
  spins: list(
    object({
      pass: Type.Integer({ description: 'The pass that followed.' }),
      cpuSeconds: number('CPU time that it took, in seconds.'),
    }),
    'Before each pass: a spin of always the same work on the core of the servers. Empty where that core is not known.',
  ),
  spreads: Type.Optional(
    list(Spread, 'Of clusters in studies: how many requests each worker served. Absent where nobody counts.'),
  ),
  failures: list(
    object({ cell: text(CELL), reason: text(`What went wrong: ${CLAUSE}.`) }),
    'What went wrong, by cell.',
  ),
})

/**
 * How the servers ran: `native` as processes of this machine, `docker` as containers, `kubernetes` in a pod of a cluster, `target`
 * somewhere, before the run began and after it. Figures of unlike modes never share a table.
 */
export type Mode = Run['mode']

/** What every result has. */
const RUN = {
  schema: Type.Literal(5, { description: 'Version of this format.' }),
  mode: oneOf(
    ['native', 'docker', 'kubernetes', 'target'],
    'How the servers ran: as processes of the machine, as containers on it, in pods of a cluster, or somewhere before the run and after it.',
  ),
  target: orNull(TargetRecord, 'The server that already ran; null in other modes than target.'),
  cluster: orNull(ClusterRecord, 'Where in a cluster it ran; null in other modes than kubernetes.'),
  startedAt: text('Start of the run, ISO 8601, UTC.'),
  finishedAt: orNull(
    Type.String(),
    'End of the run, ISO 8601, UTC; null while it runs and after an interruption.',
  ),
  command: text('What repeats the run, for a shell.'),
  seed: count('Of the random order of heats and slices.'),
  machine: Machine,
  versions: Versions,
  nginx: orNull(NginxVersion, 'The usual NGINX; null if none was needed or found.'),
  driver: DriverRecord,
  settings: Settings,
  warnings: list(Warning, 'What a reader must know, the most important first.'),
  cells: list(Cell, 'What was to be measured.'),
  conformance: list(ConformanceRecord, 'The suite of the contract, once per cell before the first heat.'),
  heats: list(Heat, 'What was measured, in the order in which it ran.'),
}

const AFTER = 'What follows from `heats`; null before the first heat.'

function resultOf<const Kind extends string, Figures extends TSchema>(kind: Kind, analysis: Figures) {
  return object({ kind: Type.Literal(kind), ...RUN, analysis: orNull(analysis, AFTER) })
}

const OPEN_LOOPS = {
  capacity: resultOf('capacity', Type.Array(CapacityFigures)),
  latency: resultOf('latency', Type.Array(LatencyFigures)),
  overload: resultOf('overload', Type.Array(OverloadFigures)),
}

/** What a race of commands is made again from. No value of a header or of the environment is in it. */
export type RaceRecord = Static<typeof RaceRecord>
const RaceRecord = object({
  systems: list(
    object({
      name: text('As tables name it.'),
      command: orNull(Type.String(), 'How it is started; null if it ran already.'),
      url: orNull(Type.String(), 'Where it ran already; null if it is started.'),
      commit: orNull(Type.String(), 'What was checked out of git; null for all others.'),
    }),
    'What was compared: the first one is what the others are compared with.',
  ),
  requests: list(
    object({
      name: text('Method and path.'),
      method: text('Method.'),
      path: text('Path and query.'),
      weight: orNull(
        Type.Integer(),
        'How often it is drawn among others, in one mixture; null: it is a race of its own.',
      ),
      headers: list(Type.String(), 'Names of headers.'),
      bodyBytes: orNull(Type.Integer(), 'Length of the body that is sent, in bytes; null without one.'),
    }),
    'What is asked.',
  ),
  connections: count('Connections kept open.'),
  twin: orNull(
    Type.String(),
    'The system that equals the first one, to know the noise; null if there is none.',
  ),
  precision: orNull(
    Type.Number(),
    'Half-width of intervals, as a part of 1, for which the number of heats is chosen after the first ones; null: all are planned.',
  ),
  pilots: list(PilotRecord, 'Empty until it is measured.'),
})

const Study = object({
  kind: Type.Literal('study'),
  study: text('Name of the study.'),
  ...RUN,
  published: orNull(
    Type.Array(PublishedFigures),
    "What the source's own tool measured; null unless `--as-published`.",
  ),
  race: Type.Optional(RaceRecord),
  analysis: orNull(StudyAnalysis, AFTER),
})

/** By kind: what a file is checked against. */
export const RESULTS_BY_KIND = { rate: resultOf('rate', Analysis), ...OPEN_LOOPS, study: Study }

/** Parts of results that other programs read under a name. */
export const NAMED_PARTS = {
  ...{ Machine, Versions, NginxVersion, ClusterRecord, TargetRecord, DriverRecord, Settings, Warning },
  ...{ Cell, ConformanceRecord, Heat, Slice, Trial, CpuSeconds, Disturbance, Errors, PercentilesMs },
  ...{ Interval, GateResult, CellFigures, Analysis, StudyAnalysis },
  ...{ CapacityFigures, LatencyFigures, OverloadFigures },
}

/** What was measured, without what follows from it. */
export type Run = Omit<RaceResult, 'kind' | 'analysis'> & { kind: StoredResult['kind'] }
export type RaceResult = Static<(typeof RESULTS_BY_KIND)['rate']>
export type CapacityResult = Static<(typeof RESULTS_BY_KIND)['capacity']>
export type LatencyResult = Static<(typeof RESULTS_BY_KIND)['latency']>
export type OverloadResult = Static<(typeof RESULTS_BY_KIND)['overload']>
export type OpenLoopResult = CapacityResult | LatencyResult | OverloadResult
export type StudyResult = Static<typeof Study>

/** A result of generated experiments: the grid, or a server that already ran. */
export type Result = RaceResult | OpenLoopResult
export type ResultKind = Result['kind']

/** What a file of a run has, whatever was measured. */
export type StoredResult = Result | StudyResult

export function isRace(result: StoredResult): result is RaceResult {
  return result.kind === 'rate'
}

/** All open loops of a run, in the order in which they were measured. */
export function trialsOf({ heats }: Pick<Run, 'heats'>): Trial[] {
  return heats.flatMap(({ trials }) => trials)
}
