import {
  formatEnds,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatRatio,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { isShown } from '../judge/comparisons.ts'
import { FULL_CORES, isTested, LEAST_STARTS, unsteadyOf } from '../judge/findings.ts'
import type { Metric } from '../result/experiment.ts'
import type { CellFigures, Finding, PilotRecord } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import { type Findings, ratioChart, type Section } from './document.ts'
import { nameCores } from './provenance.ts'
import { raceSections } from './study.ts'

/** What a race of commands says. */
export function findingsOfRace(result: Result): Findings {
  const [finding = '', ...others] = sentencesOf(result)
  const findings = result.analysis?.findings ?? []
  const isOne = new Set(findings.map((one) => one.race)).size === 1
  return {
    finding,
    subject: `Race of ${listOf(Object.keys(result.experiment.systems))}`,
    chart: ratioChart({
      title: 'Ratios of the second system to the first',
      caption: 'With 95 % intervals; in colour what decides. The scale is logarithmic.',
      panels: findings.map((one) => ({
        title: `${one.over} over ${one.under}${isOne ? '' : `: ${one.race}`}`,
        dots: [
          ...(one.ratio === null ? [] : [{ ...one.ratio, name: shortOf(one.decides), leads: true }]),
          ...one.others.map(({ metric, ratio }) => ({ ...ratio, name: shortOf(metric), leads: false })),
        ],
      })),
      columns: 2,
    }),
    summary: others.map((sentence) => `${sentence}.`),
    sections: sectionsOf(result),
    conditions: conditionsOf(result),
  }
}

/** `after handles 8 % (5–11 %) more requests per second at saturation (32 connections, /api/items)` */
function describeFinding(finding: Finding, result: Judged): string {
  const { stall } = finding
  return stall === undefined
    ? describeRatio(finding, result)
    : `${describeRatio(finding, result)}; ${describeStall(stall)}`
}

/** Figures leave such moments out, so they are told. */
export function describeStall({ system, seconds, other }: NonNullable<Finding['stall']>): string {
  const format = (wait: number) => `${wait.toFixed(wait < 1 ? 3 : 1)} s`
  return `but ${system} stopped responding for ${format(seconds)} in the typical start, the other for ${format(other)}`
}

function describeRatio(finding: Finding, result: Judged): string {
  const { decides, over, under, isTwin, ratio, smallest } = finding
  const unsteady = unsteadyOf(finding, result.pilots)
  const where = `${placeOf(finding, connectionsOf(result))}${unsteady.length === 0 ? '' : `; ${listOf(unsteady)} may have been cold`}`
  if (ratio === null) return describeVoid(finding, result, where)
  const { low, high } = ratio
  if (isTwin)
    return `${over} (a twin, the noise of this race): ${formatRatio(ratio.value)} (${formatEnds(ratio, formatRatio)}) times ${under} by what decides (${where})`
  if (low === null || high === null || smallest === null) return describeFew(finding, result, where)
  if (!isShown(finding)) return describeNone(finding, { low, high, smallest }, where)
  if (Math.max(ratio.value, 1 / ratio.value) >= WIDE)
    return decides === 'rate'
      ? `${over} handles ${formatTimes(ratio)} as many requests per second at saturation as ${under} (${where})`
      : `${over} needs ${formatTimes(ratio)} as much CPU per request as ${under} (${where})`
  const change = describeChange(ratio.value, low, high)
  const more = ratio.value > 1 ? 'more' : decides === 'rate' ? 'fewer' : 'less'
  return decides === 'rate'
    ? `${over} handles ${change} ${more} requests per second at saturation than ${under} (${where})`
    : `${over} needs ${change} ${more} CPU per request than ${under} (${where})`
}

/** The same for all. */
function connectionsOf({ cells: [first] }: Pick<Result, 'cells'>): number {
  return first?.connections ?? 0
}

type Judged = Pick<Result, 'cells' | 'pilots' | 'settings' | 'enoughMs' | 'finishedAt' | 'heats' | 'analysis'>

function describeVoid({ race, over, under }: Finding, { analysis }: Judged, where: string): string {
  const reasons = (analysis?.cells ?? [])
    .filter((one) => one.race === race && (one.system === over || one.system === under))
    .flatMap((one) => whyVoid(one) ?? [])
  return `${over} and ${under} were not compared (${where})${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`
}

function whyVoid({ system, void: reason }: CellFigures): string | undefined {
  return reason === null ? undefined : `${system} is void (${reason})`
}

/** What would give one is told, where it is known. */
function describeFew(
  finding: Finding,
  { settings, heats, enoughMs, finishedAt }: Judged,
  where: string,
): string {
  const { over, under } = finding
  const advice =
    enoughMs !== null
      ? `--max-time ${enoughMs / 1000}s would be enough`
      : finishedAt === null
        ? `the whole race has ${settings.heats}`
        : `it takes ${LEAST_STARTS}`
  return `Only ${describeStarts(finding, heats)}: no verdict on ${over} and ${under}; ${advice} (${where})`
}

/** `2 starts each`; `1 of 2 starts counts` where others took the cores during one. */
export function describeStarts(
  { race, starts }: Pick<Finding, 'race' | 'starts'>,
  heats: readonly { race: string }[],
): string {
  const begun = heats.filter((heat) => heat.race === race).length
  if (starts >= begun) return `${plural(starts, 'start')} each`
  return `${starts} of ${plural(begun, 'start')} ${starts === 1 ? 'counts' : 'count'}`
}

/** An interval from one end to so many times that says little in per cent. */
const WIDE = 2

function describeNone(
  { decides, over, under, ratio }: Finding,
  { low, high, smallest }: { low: number; high: number; smallest: number },
  where: string,
): string {
  if (high > WIDE * low)
    return `No difference shown: the ${decides === 'rate' ? 'rate' : 'CPU per request'} of ${over} is ${formatRatio(low)} to ${formatRatio(high)} times that of ${under}, which is too wide to say more (${where})`
  // A cost of 1.02 is 2 % slower; so is a rate of 1 / 1.02.
  const [slow, fast] = decides === 'rate' ? [1 / low, high] : [high, 1 / low]
  const side = (factor: number, word: string) =>
    factor >= 1
      ? `${formatPercent(factor - 1)} ${word}`
      : `${formatPercent(1 / factor - 1)} ${word === 'slower' ? 'faster' : 'slower'}`
  const range = `between ${side(slow, 'slower')} and ${side(fast, 'faster')}`
  // Its own interval may exclude 1 where several are compared.
  const excludes = ratio !== null && (low > 1 || high < 1)
  const alone = excludes ? '; alone, this pair would differ, but not among as many as were compared' : ''
  return `No difference shown: ${over} is ${range} than ${under}; ${formatPercent(smallest - 1)} would be found in 4 of 5 runs${alone} (${where})`
}

/** `2.10 times (1.90–2.30)` */
function formatTimes(ratio: Interval): string {
  return `${formatRatio(ratio.value)} times (${formatEnds(ratio, formatRatio)})`
}

/** `8 % (5–11 %)` */
function describeChange(value: number, low: number, high: number): string {
  const percent = (ratio: number) => {
    const part = Math.abs(ratio - 1) * 100
    return part.toFixed(part < 9.95 ? 1 : 0)
  }
  const [from, to] = value > 1 ? [low, high] : [high, low]
  return `${percent(value)} % (${percent(from)}–${percent(to)} %)`
}

function placeOf({ race, decides }: Finding, connections: number): string {
  const path = race.replace(/^GET /, '')
  return decides === 'rate' ? `${plural(connections, 'connection')}, ${path}` : path
}

/**
 * What is slower by more than the limit with its whole interval: a rate below 1 − limit, or CPU per request above 1 / (1 − limit), which a full
 * core turns into that rate.
 * @returns a sentence; null if it is not
 */
export function describeRegression(
  { race, decides, over, under, ratio }: Finding,
  limit: number,
): string | null {
  const cost = ratio === null ? null : decides === 'rate' ? ratio.high && 1 / ratio.high : ratio.low
  if (cost === null || cost <= 1 / (1 - limit)) return null
  return `${over} is slower than ${under} by more than ${formatPercent(limit)} (${race}): exit code 1.`
}

/** Green does not mean safe. */
export function describeCaught({ race, over, smallest }: Finding, limit: number): string {
  if (smallest === null) return `${race}: nothing could be said of a slowdown of ${over}.`
  const caught = 1 - (1 - limit) / smallest
  return `${race}: no slowdown of ${over} by more than ${formatPercent(limit)} is shown; this race would have caught one of ${formatPercent(caught)} in 4 of 5 runs.`
}

/** The first sentence of a report of one system. */
function describeAlone(result: Result): string {
  const [first] = result.analysis?.cells ?? []
  const rate = first?.figures.rate
  if (first === undefined || rate === undefined) return (first && whyVoid(first)) ?? 'Nothing was measured'
  return `${first.system} handles ${formatRate(rate.value)} (${formatRateEnds(rate)}) requests per second at saturation (${plural(connectionsOf(result), 'connection')}, ${first.race.replace(/^GET /, '')})`
}

/** The finding of each path and pair, as sentences without the full stop. */
function sentencesOf(result: Result): string[] {
  const findings = result.analysis?.findings ?? []
  const differences = result.pilots.flatMap(({ difference }) =>
    difference === null ? [] : [`They do different work: ${difference}`],
  )
  const found =
    findings.length === 0 ? [describeAlone(result)] : findings.map((one) => describeFinding(one, result))
  return [...differences, ...found]
}

/** The systems of each race, and what one is over another. */
function sectionsOf(result: Result): Section[] {
  const { experiment, pilots, analysis, settings } = result
  const isStarted = Object.values(experiment.systems).some(({ running }) => running === undefined)
  return raceSections(result).flatMap((section, index) => {
    const pilot = pilots[index]
    if (pilot === undefined) return []
    return [
      {
        ...section,
        notes: [...section.notes, ...pilotNotes(pilot, decisionOf(result, pilot))],
      },
      ...(analysis?.findings ?? [])
        .filter(({ race, ratio, others }) => race === pilot.race && (ratio !== null || others.length > 0))
        .map((finding) => ratioSection(finding, isStarted ? settings.cores : null)),
    ]
  })
}

/** What decided, with what others took; as the pilot found if nothing was compared. */
function decisionOf({ analysis }: Result, pilot: PilotRecord): Pick<Finding, 'decides' | 'taken'> {
  return analysis?.findings?.find(({ race }) => race === pilot.race) ?? { ...pilot, taken: null }
}

function pilotNotes(
  { decides: byPilot, warmupMs, systems }: PilotRecord,
  { decides, taken }: Pick<Finding, 'decides' | 'taken'>,
): string[] {
  const unknown = systems.filter(({ coreUse }) => coreUse === null)
  const idle = systems.filter(({ coreUse }) => coreUse !== null && coreUse < FULL_CORES)
  const masked = systems.filter((one) => one.masked > 0)
  const unsteady = systems.filter(({ steady }) => !steady)
  return [
    decides === 'rate' && unknown.length > 0
      ? `The CPU of ${listOf(unknown.map(({ system }) => system))} is not known, so requests per second decide.`
      : decides === 'rate'
        ? 'The servers fill their core, so requests per second decide.'
        : byPilot === 'rate'
          ? `Other programs took ${formatPercent(taken ?? 0)} of the servers' core, so CPU per request decides: a rate would say how much they left.`
          : `${listOf(idle.map(({ system }) => system))} did not fill the core (it waits for something else, or the generator cannot offer more), so CPU per request decides.`,
    `${warmupMs} ms of load are discarded after each start.`,
    ...(unsteady.length === 0
      ? []
      : [
          `${listOf(unsteady.map(({ system }) => system))} did not become steady in the pilot: the cost was still falling after ${warmupMs / 1000} s.`,
        ]),
    ...masked.map(
      ({ system, masked: part, bytes }) =>
        `${system}: ${part} of ${plural(bytes, 'byte')} differ from response to response and were not compared.`,
    ),
  ]
}

/** As the heading of its column. */
function shortOf(metric: Metric): string {
  return SHORT[metric] ?? metric
}

const SHORT: Partial<Record<Metric, string>> = {
  rate: 'req/s',
  cpu: 'CPU',
  'median-latency': 'p50',
  'p99-latency': 'p99',
  startup: 'start-up',
  'ready-memory': 'MB ready',
  'peak-memory': 'MB peak',
}

const NAMES: Partial<Record<Metric, string>> = {
  rate: 'requests per second',
  cpu: 'CPU per request',
  'median-latency': 'p50 latency',
  'p99-latency': 'p99 latency',
  startup: 'start-up',
  'ready-memory': 'memory when ready',
  'peak-memory': 'peak memory',
}

function ratioSection(
  { race, decides, over, under, ratio, others, pAdjusted }: Finding,
  cores: Result['settings']['cores'],
): Section {
  const first: Finding['others'] = ratio === null ? [] : [{ metric: decides, ratio }]
  const decidesHere = (one: (typeof first)[number]) => isTested({ pAdjusted }) && first.includes(one)
  return {
    title: `${over} over ${under}: ${race}${cores === null ? '' : `, on ${nameCores(cores.servers ?? [cores.server])}`}`,
    table: tableOf(
      [...first, ...others],
      [
        left('figure', 0, ({ metric }) => NAMES[metric] ?? metric),
        right('ratio', 0, (one) => formatRatio(one.ratio.value)),
        right('95 %', 0, ({ ratio: one }) => formatEnds(one, (end) => end.toFixed(digitsOf(one.value)))),
        left('', 0, (one) => (decidesHere(one) ? 'decides' : 'not tested')),
      ],
      (one) => (decidesHere(one) ? 'best' : 'plain'),
    ),
    notes: [],
  }
}

/** Ends around a ratio near 1 need three. */
function digitsOf(ratio: number): number {
  return ratio < 2 ? 3 : 2
}

function conditionsOf(result: Result): string[] {
  const { settings, analysis } = result
  const systems = Object.values(result.experiment.systems)
  const starts = Math.max(0, ...(analysis?.cells ?? []).map(({ launches }) => launches))
  const isStarted = systems.some(({ running }) => running === undefined)
  const each = isStarted ? `${plural(starts, 'start')} of each, in pairs` : plural(starts, 'heat')
  return [
    ...systems.map(
      ({ title, command, running, commit, tools }) =>
        `${title}: ${command?.command ?? running ?? UNKNOWN}${commit === undefined ? '' : `, at ${commit}`}${tools === undefined ? '' : `, with ${tools}`}.`,
    ),
    `${each}; ${plural(settings.slices, 'slice')} of ${settings.sliceMs} ms at least per ${isStarted ? 'start' : 'heat'}, in shuffled order.`,
    ...(settings.openLoop === null
      ? ['No latencies: the starts needed all the time. --max-time gives more.']
      : []),
  ]
}
