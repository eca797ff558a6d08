import Type from 'typebox'
import { CELL } from './cell.ts'
import { count, flag, list, number, object, oneOf, orNull, record, type Static, text } from './schema.ts'

/** What was measured: heats, with their launches, slices and open loops. */

const CLAUSE = 'a sentence without the full stop'

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

export const Errors = object(
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

export const CpuSeconds = object(
  {
    app: secondsOf('Of the processes that serve the app'),
    proxy: secondsOf('Of the NGINX in front (0 for the topology direct)'),
    generator: secondsOf('Of the load generator'),
  },
  'CPU used during the stretch, from the accounting of the kernel.',
)

const partOf = (what: string) =>
  orNull(Type.Number(), `${what}: part of the time, 0 to 1; null where the system does not tell.`)

export const Disturbance = object(
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
  checked: count('Responses whose body was compared.'),
  errors: Errors,
  cpuSeconds: CpuSeconds,
  disturbance: Disturbance,
  disturbed: flag(
    'Others visibly took more than 20 % of its time. It does not count, unless most of its kind are so.',
  ),
}

/** One stretch of closed-loop load on one cell, as a part of a pass. */
export type Slice = Static<typeof Slice>
export const Slice = object({
  ...STRETCH,
  phase: oneOf(['warmup', 'measure'], '`warmup` is discarded.'),
  pass: orNull(Type.Integer(), 'In which pass over the cells of its heat, from 1; null in the warm-up.'),
  detail: Type.Optional(SliceDetail),
})

export type PercentilesMs = Static<typeof PercentilesMs>
export const PercentilesMs = object(
  {
    p50: number('Median, in milliseconds.'),
    p90: number('90th percentile, in milliseconds.'),
    p99: number('99th percentile, in milliseconds.'),
    p999: number('99.9th percentile, in milliseconds.'),
    max: number('Largest value, in milliseconds.'),
  },
  'Percentiles of a distribution of times, in milliseconds.',
)

/** One stretch of open-loop load on one launch. */
export type Trial = Static<typeof Trial>
export const Trial = object({
  ...STRETCH,
  offered: number('Requests per second that were due.'),
  achieved: number('Responses per second.'),
  meanMs: orNull(
    Type.Number(),
    'Mean of the corrected latency, in milliseconds; null if nothing got a response.',
  ),
  lag: orNull(
    PercentilesMs,
    'How late requests were sent, the doing of the generator; null if nothing got a response.',
  ),
  histogram: orNull(
    Type.String(),
    'Corrected latency in nanoseconds as an HdrHistogram V2, compressed, base64; null if there is none.',
  ),
  lagHistogram: orNull(Type.String(), 'Schedule lag, in the same form; null if there is none.'),
  generatorBound: flag('The generator could not offer the load.'),
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
export const Heat = object({
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
  spreads: Type.Optional(
    list(Spread, 'Of clusters in studies: how many requests each worker served. Absent where nobody counts.'),
  ),
  failures: list(
    object({ cell: text(CELL), reason: text(`What went wrong: ${CLAUSE}.`) }),
    'What went wrong, by cell.',
  ),
})
