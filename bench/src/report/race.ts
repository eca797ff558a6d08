import {
  formatEnds,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatRatio,
  formatRatioInterval,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import { isShown } from '../judge/comparisons.ts'
import { FULL_CORES, isTested, LEAST_STARTS, unsteadyOf } from '../judge/findings.ts'
import type { CellFigures, Finding, PilotRecord } from '../result/figures.ts'
import { METRICS } from '../result/metrics.ts'
import type { Result } from '../result/result.ts'
import { ratioChart } from './chart.ts'
import type { Findings, Section } from './document.ts'
import { raceSections } from './study.ts'

/** What a race of commands says. */
export function findingsOfRace(result: Result): Findings {
  const findings = result.analysis?.findings ?? []
  const isOne = new Set(findings.map((one) => one.race)).size === 1
  const differences = result.pilots.flatMap(({ difference }) => difference ?? [])
  const [finding = '', ...others] = [
    ...differences.map((difference) => `They do different work: ${difference}`),
    ...findings.map((one) => describeFinding(one, result)),
    ...(findings.length === 0 ? [describeAlone(result)] : []),
  ]
  return {
    finding,
    subject: `Race of ${listOf(Object.keys(result.experiment.systems))}`,
    chart: ratioChart({
      title: 'Ratios of the second system to the first',
      caption: 'With 95 % intervals; in colour what decides. The scale is logarithmic.',
      panels: findings.map((one) => ({
        title: `${one.over} over ${one.under}${isOne ? '' : `: ${one.race}`}`,
        dots: ratiosOf(one).map(({ metric, ratio }) => ({
          ...ratio,
          name: METRICS[metric].heading,
          leads: metric === one.decides,
        })),
      })),
      columns: 2,
    }),
    summary: others.map((sentence) => `${sentence}.`),
    sections: sectionsOf(result),
    conditions: conditionsOf(result),
  }
}

/** All of them, with what decides first. */
function ratiosOf({ decides, ratio, others }: Finding): Finding['others'] {
  return ratio === null ? others : [{ metric: decides, ratio }, ...others]
}

/** `after handles 8 % (5–11 %) more requests per second at saturation (32 connections, /api/items)` */
function describeFinding(finding: Finding, result: Result): string {
  const { decides, stall, race } = finding
  const unsteady = unsteadyOf(finding, result.pilots)
  const where = [
    placeOf(race, result, decides === 'rate'),
    ...(unsteady.length === 0 ? [] : [`${listOf(unsteady)} may have been cold`]),
  ].join('; ')
  const format = (wait: number) => `${wait.toFixed(wait < 1 ? 3 : 1)} s`
  // Figures leave such moments out.
  const stalled =
    stall === undefined
      ? ''
      : `; but ${stall.system} stopped responding for ${format(stall.seconds)} in the typical start, the other for ${format(stall.other)}`
  return `${describeRatio(finding, result, where)}${stalled}`
}

/** `32 connections, /api/items`; the connections are the same for all. */
function placeOf(race: string, { cells: [first] }: Result, hasConnections = true): string {
  const path = race.replace(/^GET /, '')
  return hasConnections ? `${plural(first?.connections ?? 0, 'connection')}, ${path}` : path
}

/** A factor that says little in per cent. */
const WIDE = 2

function describeRatio(finding: Finding, result: Result, where: string): string {
  const { decides, over, under, isTwin, ratio, smallest } = finding
  if (ratio === null) return describeVoid(finding, result, where)
  if (isTwin)
    return `${over} (a twin, the noise of this race): ${formatRatioInterval(ratio)} times ${under} by what decides (${where})`
  const { low, high, value } = ratio
  if (low === null || high === null || smallest === null) return describeFew(finding, result, where)
  if (!isShown(finding)) return describeNone(finding, { low, high, smallest }, where)
  const isRate = decides === 'rate'
  const verb = isRate ? 'handles' : 'needs'
  const what = isRate ? 'requests per second at saturation' : 'CPU per request'
  if (Math.max(value, 1 / value) >= WIDE)
    return `${over} ${verb} ${formatRatioInterval(ratio)} times as ${isRate ? 'many' : 'much'} ${what} as ${under} (${where})`
  const more = value > 1 ? 'more' : isRate ? 'fewer' : 'less'
  const [from, to] = value > 1 ? [low, high] : [high, low]
  const percent = (one: number) => formatPercent(Math.abs(one - 1)).replace(' %', '')
  return `${over} ${verb} ${percent(value)} % (${percent(from)}–${percent(to)} %) ${more} ${what} than ${under} (${where})`
}

function describeVoid({ race, over, under }: Finding, { analysis }: Result, where: string): string {
  const reasons = (analysis?.cells ?? [])
    .filter((one) => one.race === race && (one.system === over || one.system === under))
    .flatMap((one) => whyVoid(one) ?? [])
  return `${over} and ${under} were not compared (${where})${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`
}

function whyVoid({ system, void: reason }: CellFigures): string | undefined {
  return reason === null ? undefined : `${system} is void (${reason})`
}

/** What would give a verdict is told, where it is known. */
function describeFew(
  { race, over, under, starts }: Finding,
  { heats, enoughMs }: Result,
  where: string,
): string {
  const begun = heats.filter((heat) => heat.race === race).length
  // Others took the cores during the rest.
  const counted =
    starts >= begun
      ? `${plural(starts, 'start')} each`
      : `${starts} of ${plural(begun, 'start')} ${starts === 1 ? 'counts' : 'count'}`
  const advice =
    enoughMs === null ? `it takes ${LEAST_STARTS}` : `--max-time ${enoughMs / 1000}s would be enough`
  return `Only ${counted}: no verdict on ${over} and ${under}; ${advice} (${where})`
}

function describeNone(
  { decides, over, under }: Finding,
  { low, high, smallest }: { low: number; high: number; smallest: number },
  where: string,
): string {
  if (high > WIDE * low)
    return `No difference shown: the ${decides === 'rate' ? 'rate' : 'CPU per request'} of ${over} is ${formatRatio(low)} to ${formatRatio(high)} times that of ${under}, which is too wide to say more (${where})`
  // A cost of 1.02 is 2 % slower; so is a rate of 1 / 1.02.
  const [slow, fast] = decides === 'rate' ? [1 / low, high] : [high, 1 / low]
  const side = (factor: number, word: string, opposite: string) =>
    factor >= 1 ? `${formatPercent(factor - 1)} ${word}` : `${formatPercent(1 / factor - 1)} ${opposite}`
  const range = `between ${side(slow, 'slower', 'faster')} and ${side(fast, 'faster', 'slower')}`
  // Its own interval may exclude 1 where several are compared.
  const alone =
    low > 1 || high < 1 ? '; alone, this pair would differ, but not among as many as were compared' : ''
  return `No difference shown: ${over} is ${range} than ${under}; ${formatPercent(smallest - 1)} would be found in 4 of 5 runs${alone} (${where})`
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

/** Green does not mean safe. @param smallest of a finding that was tested: not null */
export function describeCaught({ race, over, smallest }: Finding, limit: number): string {
  const caught = 1 - (1 - limit) / (smallest ?? 1)
  return `${race}: no slowdown of ${over} by more than ${formatPercent(limit)} is shown; this race would have caught one of ${formatPercent(caught)} in 4 of 5 runs.`
}

/** The first sentence of a report of one system. */
function describeAlone(result: Result): string {
  const [first] = result.analysis?.cells ?? []
  const rate = first?.figures.rate
  if (first === undefined || rate === undefined) return (first && whyVoid(first)) ?? 'Nothing was measured'
  return `${first.system} handles ${formatRate(rate.value)} (${formatRateEnds(rate)}) requests per second at saturation (${placeOf(first.race, result)})`
}

/** The systems of each race, and what one is over another. */
function sectionsOf(result: Result): Section[] {
  const findings = result.analysis?.findings ?? []
  return raceSections(result).flatMap((section, index) => {
    const pilot = result.pilots[index]
    if (pilot === undefined) return []
    const own = findings.filter(({ race }) => race === pilot.race)
    return [
      { ...section, notes: [...section.notes, ...pilotNotes(pilot, own[0])] },
      ...own.filter((finding) => ratiosOf(finding).length > 0).map(ratioSection),
    ]
  })
}

/** @param finding which knows what decided, and what others took; undefined if nothing was compared */
function pilotNotes(pilot: PilotRecord, finding: Finding | undefined): string[] {
  const { systems, warmupMs } = pilot
  const unknown = systems.filter(({ coreUse }) => coreUse === null)
  const idle = systems.filter(({ coreUse }) => coreUse !== null && coreUse < FULL_CORES)
  const masked = Math.max(...systems.map((one) => one.masked))
  const titlesOf = (some: typeof systems) => listOf(some.map(({ system }) => system))
  const reason =
    (finding ?? pilot).decides === 'rate'
      ? `${unknown.length > 0 ? `The CPU of ${titlesOf(unknown)} is not known` : 'The servers fill their core'}, so requests per second decide.`
      : pilot.decides === 'rate'
        ? `Other programs took ${formatPercent(finding?.taken ?? 0)} of the servers' core, so CPU per request decides: a rate would say how much they left.`
        : `${titlesOf(idle)} did not fill the core (it waits for something else, or the generator cannot offer more), so CPU per request decides.`
  return [
    `${reason} ${warmupMs} ms of load are discarded after each start.`,
    ...(masked === 0
      ? []
      : [
          `Up to ${plural(masked, 'byte')} of a response differ from response to response and were not compared.`,
        ]),
  ]
}

function ratioSection(finding: Finding): Section {
  const { race, decides, over, under } = finding
  const decidesHere = (metric: string) => metric === decides && isTested(finding)
  return {
    title: `${over} over ${under}: ${race}`,
    table: tableOf(
      ratiosOf(finding),
      [
        left('figure', 0, ({ metric }) => METRICS[metric].name),
        right('ratio', 0, ({ ratio }) => formatRatio(ratio.value)),
        // Around 1, two digits are too few.
        right('95 %', 0, ({ ratio }) => formatEnds(ratio, (end) => end.toFixed(3))),
        left('', 0, ({ metric }) => (decidesHere(metric) ? 'decides' : 'not tested')),
      ],
      ({ metric }) => (decidesHere(metric) ? 'best' : 'plain'),
    ),
    notes: [],
  }
}

function conditionsOf(result: Result): string[] {
  const { settings, analysis } = result
  const systems = Object.values(result.experiment.systems)
  const starts = Math.max(0, ...(analysis?.cells ?? []).map(({ launches }) => launches))
  const isStarted = systems.some(({ running }) => running === undefined)
  const [each, launch] = isStarted
    ? [`${plural(starts, 'start')} of each, in pairs`, 'start']
    : [plural(starts, 'heat'), 'heat']
  return [
    ...systems.map(
      ({ title, command, running, commit, tools }) =>
        `${title}: ${command?.command ?? running ?? UNKNOWN}${commit === undefined ? '' : `, at ${commit}`}${tools === undefined ? '' : `, with ${tools}`}.`,
    ),
    `${each}; ${plural(settings.slices, 'slice')} of ${settings.sliceMs} ms at least per ${launch}, in shuffled order.`,
    ...(settings.openLoop === null
      ? ['No latencies: the starts needed all the time. --max-time gives more.']
      : []),
  ]
}
