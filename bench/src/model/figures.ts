import { TOPOLOGIES } from '@startgrid/grid/apps.ts'
import Type from 'typebox'
import { METRICS as STUDY_METRICS } from './experiment.ts'
import { count, flag, list, number, object, oneOf, orNull, type Static, text } from './schema.ts'

/**
 * What follows from the measured: `analyse` makes it, reports show it. Plain data, part of the result. In mode `target` nothing is
 * launched: there, what is said of launches holds for heats of one launch.
 */

const CELL = 'Identifier of the cell, as in `cells`.'
const WHERE_KNOWN = 'null where unknown'
const VOID = 'Why the number may not be used: a sentence without the full stop; null if it may.'

/** An estimate with its 95 % interval, in the unit of its field. */
export const Interval = object({
  value: number('The estimate.'),
  low: orNull(Type.Number(), 'Lower end of the 95 % interval; null where too few launches give none.'),
  high: orNull(Type.Number(), 'Upper end of the 95 % interval; null where too few launches give none.'),
})

const interval = (description: string) => object(Interval.properties, description)

const intervalOrNull = (description: string) => orNull(interval(description), description)

const numberOrNull = (description: string) => orNull(Type.Number(), description)

export type Metric = Static<typeof Metric>
const Metric = oneOf(
  ['rate', 'cpu'],
  '`rate`: responses per second. `cpu`: CPU seconds of server and proxy per request.',
)

const isVoid = orNull(Type.String(), VOID)

const OpenLoop = object({
  launches: count('Launches of which the latency counts.'),
  voidedBecause: orNull(Type.String(), VOID),
  late: Type.Optional(
    list(
      Type.Enum(STUDY_METRICS),
      'Not given, because a late generator has a part in more than half of the launches.',
    ),
  ),
})

/** The figures of one cell; all null if it is voided. */
export type CellFigures = Static<typeof CellFigures>
export const CellFigures = object({
  cell: text(CELL),
  launches: count('Launches with at least one slice that counts.'),
  slices: count('Slices that count.'),
  disturbed: count(
    'Slices that others visibly disturbed. They do not count, unless they are most of a launch.',
  ),
  rate: intervalOrNull('Responses per second, geometric mean over launches; null if voided.'),
  cpu: intervalOrNull(
    'CPU seconds of server and proxy per request, geometric mean over launches; null if voided or unknown.',
  ),
  cpuParts: object(
    {
      app: numberOrNull(`Of the app; ${WHERE_KNOWN}.`),
      proxy: numberOrNull(`Of the NGINX in front; ${WHERE_KNOWN}.`),
      generator: numberOrNull(`Of the load generator; ${WHERE_KNOWN}.`),
    },
    'CPU seconds per request, mean over launches, apart.',
  ),
  coreUse: numberOrNull(`Part of their core that server and proxy used, 0 to 1; ${WHERE_KNOWN}.`),
  peakMemory: object(
    {
      app: numberOrNull(`Of the app, in bytes; ${WHERE_KNOWN}.`),
      proxy: numberOrNull('Of the NGINX in front, in bytes; null where there is none or it is unknown.'),
    },
    'Highest resident memory of all launches, in bytes.',
  ),
  openLoop: Type.Optional(OpenLoop),
  p50: Type.Optional(
    interval('With `--latency`: seconds from when a request was due, in open loop; absent if unknown.'),
  ),
  p99: Type.Optional(interval('The same of the 99th percentile.')),
  errors: count('Failed requests in slices that count, over all launches.'),
  void: isVoid,
})

export type Pair = Static<typeof Pair>
const Pair = object({
  a: text('Identifier of the first cell.'),
  b: text('Identifier of the second cell.'),
  ratio: interval('`a` over `b` in the metric of the race.'),
  p: numberOrNull('Two-sided p value; null with one launch.'),
  pAdjusted: numberOrNull(
    "The same after Holm's correction over the pairs of the race; null with one launch.",
  ),
})

export type Control = Static<typeof Control>
const Control = object({
  twin: text('Identifier of the cell of the twin.'),
  original: text('Identifier of the cell that it equals.'),
  ratio: interval('The twin over the original in the metric of the race; 1 is right.'),
  p: numberOrNull('Two-sided p value; null with one launch.'),
  suspect: flag('p < 0.005: there was a difference where none exists.'),
})

/** The cells of one race in one topology, compared by one metric. */
export type Race = Static<typeof Race>
export const Race = object({
  race: text('As in `cells`: in the grid, the role.'),
  topology: oneOf(TOPOLOGIES, 'How requests reach its cells.'),
  metric: Metric,
  baseline: text('Identifier of the cell that `ratios` refer to.'),
  ranks: list(
    object({ cell: text(CELL), from: count('Best rank, from 1.'), to: count('Worst rank, from 1.') }),
    'Best first; voided cells and twins are not in it.',
  ),
  ratios: list(
    object({ cell: text(CELL), ratio: interval('The cell over the baseline in the metric of the race.') }),
    'Each cell over the baseline, not adjusted for multiplicity.',
  ),
  pairs: list(Pair, 'All pairs.'),
  control: orNull(Control, 'The A/A twin over the app that it equals; null if there is no twin.'),
  smallestEffect: orNull(
    object({
      single: number('Tested alone: a ratio above 1.'),
      adjusted: number("With Holm's correction over all pairs: a ratio above 1."),
    }),
    'The smallest ratio above 1 that this race had shown at 80 % power for a typical pair; null with one launch.',
  ),
  launchSpread: numberOrNull(
    'Coefficient of variation of launches, pooled, as a part of 1; null with one launch.',
  ),
})

/** An app behind NGINX over itself without, by differences within a launch. */
export type ProxyCost = Static<typeof ProxyCost>
const ProxyCost = object({
  app: text('As `app` of its cells.'),
  race: text('As in `cells`.'),
  topology: oneOf(TOPOLOGIES, 'The topology over direct.'),
  metric: Metric,
  ratio: interval('Behind NGINX over direct in the metric.'),
})

export type Analysis = Static<typeof Analysis>
export const Analysis = object({
  cells: list(CellFigures, 'The figures of each cell.'),
  races: list(Race, 'Comparisons within a race and topology.'),
  proxyCosts: list(ProxyCost, 'What NGINX in front costs, for every app measured both ways.'),
})

const StudyMetric = Type.Enum(STUDY_METRICS, { description: 'As docs/studies explains.' })

export type StudyFigures = Static<typeof StudyFigures>
const StudyFigures = object({
  race: text('Which race.'),
  system: text('Which system.'),
  launches: count('Launches that count.'),
  openLoop: orNull(OpenLoop, 'Of the latency in open loop; null where it was not asked for.'),
  figures: Type.Object(
    Object.fromEntries(STUDY_METRICS.map((metric) => [metric, Type.Optional(interval(metric))])) as {
      [Name in (typeof STUDY_METRICS)[number]]: Type.TOptional<ReturnType<typeof interval>>
    },
    { description: 'Geometric means over launches.' },
  ),
  cpu: object(
    { app: numberOrNull(`Of the app; ${WHERE_KNOWN}.`), proxy: numberOrNull(`Of NGINX; ${WHERE_KNOWN}.`) },
    'CPU seconds per request, means over launches.',
  ),
  coreUse: numberOrNull(`Part of their cores that the servers used, 0 to 1; ${WHERE_KNOWN}.`),
  upstreamConnections: numberOrNull(`Connections per request that NGINX opened to the app; ${WHERE_KNOWN}.`),
  workerShares: orNull(
    object({ least: number('Of the least busy worker.'), most: number('Of the most busy worker.') }),
    'Parts of the requests that single workers of a cluster served, means over heats; null where nobody counts.',
  ),
  handshakes: Type.Optional(list(Type.String(), 'What its connections over TLS agreed on.')),
  void: isVoid,
})

/** What becomes of a claim. */
export type Verdict = ClaimResult['verdict']

export type ClaimResult = Static<typeof ClaimResult>
const ClaimResult = object({
  id: text('Of the claim, within its study.'),
  says: text('What the source says, as one clause.'),
  ours: Type.Optional(flag('Whether it is a question of ours, which nobody has published.')),
  race: text('Which race.'),
  against: Type.Optional(text('The race of the second system, where it is another one.')),
  metric: StudyMetric,
  over: text('A system.'),
  under: text('The system that it is divided by.'),
  published: number('The published ratio.'),
  ratio: intervalOrNull('Ours; null if it was not measured.'),
  verdict: oneOf(
    [
      'holds',
      'direction holds, size differs',
      'direction holds, size undecided',
      'not reproduced here',
      'undecided here',
    ],
    'What becomes of the claim.',
  ),
  undecided: orNull(Type.String(), 'Why it is undecided: a clause without the full stop; null if it is not.'),
  because: orNull(Type.String(), 'Why it comes out so, as measured: sentences; null if nothing is said.'),
})

export type StepResult = Static<typeof StepResult>
const StepResult = object({
  what: text('What the step adds.'),
  race: text('Which race.'),
  from: text('A system.'),
  to: text('A system.'),
  cpu: orNull(
    object({ from: number('Of the first system.'), to: number('Of the second system.') }),
    'CPU seconds per request; null if not measured.',
  ),
  ratio: intervalOrNull('The second over the first; null if not measured.'),
})

const COST_CURVE = {
  heats: count('Heats in which all of it was measured.'),
  fixed: intervalOrNull(
    'CPU seconds of a request without any work, from the line through the points; null for one point.',
  ),
  perUnit: intervalOrNull('CPU seconds for each unit of work more; null for one point.'),
  points: list(
    object({
      amount: number('Of work.'),
      cost: interval('CPU seconds per request, mean over heats.'),
    }),
    'As measured, by amount of work.',
  ),
}

export type CostCurve = Pick<CostsResult['lines'][number], keyof typeof COST_CURVE>

/** What ways to serve cost, and the differences of pairs, heat by heat. */
export type CostsResult = Static<typeof CostsResult>
const CostsResult = object({
  title: text('What a request is.'),
  race: text('Which race.'),
  lines: list(object({ name: text('Of the line.'), ...COST_CURVE }), 'Each way to serve.'),
  pairs: list(
    object({
      over: text('Name of a line.'),
      under: text('Name of the line that is subtracted from it.'),
      ...COST_CURVE,
    }),
    'What the first costs more than the second: negative where it costs less.',
  ),
})

/** How a rate grows with the number of workers. */
export type ScalingResult = Static<typeof ScalingResult>
const ScalingResult = object({
  title: text('What is scaled.'),
  race: text('Which race.'),
  points: list(
    object({
      workers: count('Workers.'),
      ratio: interval('Rate against one worker.'),
      cores: count('Cores that the workers had.'),
    }),
    'The curve.',
  ),
})

/** What a launch that does not count found of one race of commands. */
export type PilotRecord = Static<typeof PilotRecord>
export const PilotRecord = object({
  race: text('Which race.'),
  decides: oneOf(
    ['rate', 'cpu'],
    'Requests per second at saturation, or CPU per request where a system does not fill its cores.',
  ),
  warmupMs: number('Discarded after each launch, of all systems, in milliseconds.'),
  systems: list(
    object({
      system: text('Which system.'),
      bytes: number("Of a response's body, on average; of a mixture, all paths together."),
      masked: number('How many of them differ between its own responses, so that they were not compared.'),
      steady: flag('Its cost was not falling any more when the pilot ended.'),
      coreUse: numberOrNull('Part of its cores, 0 to 1; null where it is not known.'),
    }),
    'What it found of each.',
  ),
  difference: orNull(Type.String(), "How systems' responses differ: a sentence; null if they are equal."),
})

/** Two systems of a race of commands. */
export type Finding = Static<typeof Finding>
const Finding = object({
  race: text('Which race.'),
  decides: oneOf(['rate', 'cpu'], 'As the pilot found, unless others took too much of the core.'),
  taken: numberOrNull(
    "Part of the servers' core that others used in all slices, 0 to 1; null where the system does not tell.",
  ),
  over: text('A system.'),
  under: text('The system that it is divided by.'),
  isTwin: flag('It equals the other one: a control, which is not tested.'),
  starts: count('How often both were started and measured.'),
  ratio: intervalOrNull('Of what decides; null if it was not measured.'),
  pAdjusted: numberOrNull(
    'By Holm, over all findings; null if it was not tested: a twin, or fewer than 5 starts.',
  ),
  smallest: numberOrNull('The smallest ratio above 1 that is found in 4 of 5 runs.'),
  others: list(
    object({ metric: StudyMetric, ratio: interval('The first over the second.') }),
    'Of other metrics; not tested.',
  ),
})

export type StudyAnalysis = Static<typeof StudyAnalysis>
export const StudyAnalysis = object({
  findings: Type.Optional(list(Finding, 'Of races of commands.')),
  cells: list(StudyFigures, 'The figures of each system.'),
  openRates: list(
    object({ race: text('Which race.'), rate: number('Requests per second.') }),
    'The rate of the open loops, of races that have them.',
  ),
  claims: list(ClaimResult, 'The published ratios, judged.'),
  steps: list(StepResult, 'What single differences cost.'),
  costs: Type.Optional(list(CostsResult, 'What ways to serve cost by amount of work.')),
  scaling: list(ScalingResult, 'Curves over the number of workers.'),
})
