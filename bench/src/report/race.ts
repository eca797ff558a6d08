import {
  formatEnds,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatRatio,
  formatRatioInterval,
  formatSpeed,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { listOf, plural, present } from '@startgrid/cli/text.ts'
import { MOST_HEATS } from '../experiment/time.ts'
import { FULL_CORES, LEAST_STARTS, unsteadyOf } from '../judge/findings.ts'
import { formatMargin, isKnown, speedOf, WITHIN } from '../judge/verdict.ts'
import type { CellFigures, Finding, PilotRecord } from '../result/figures.ts'
import { METRICS } from '../result/metrics.ts'
import type { Result } from '../result/result.ts'
import { ratioChart } from './chart.ts'
import type { Findings, Section } from './document.ts'
import { chartOfSince, describeSince, sectionOfSince } from './since.ts'
import { raceSections } from './study.ts'
import { describeWhy, whySection } from './why.ts'

/** What a race of commands says. */
export function findingsOfRace(result: Result): Findings {
  const { findings = [], whys = [], since } = result.analysis ?? {}
  const isOne = new Set(findings.map((one) => one.race)).size === 1
  const differences = result.pilots.flatMap(({ difference }) => difference ?? [])
  const [finding = '', ...others] = [
    ...(since === undefined ? [] : describeSince(since, result)),
    ...differences.map((difference) => `They do different work: ${difference}`),
    ...findings.map((one) => describeFinding(one, result)),
    ...whys.map(describeWhy),
    ...(findings.length === 0 ? [describeAlone(result)] : []),
  ]
  return {
    finding,
    subject: `Race of ${listOf(Object.keys(result.experiment.systems))}`,
    chart:
      (since && chartOfSince(since, result)) ??
      ratioChart({
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
    sections: [...(since === undefined ? [] : [sectionOfSince(since)]), ...sectionsOf(result)],
    conditions: conditionsOf(result),
  }
}

/** All of them, with what decides first. */
function ratiosOf({ decides, ratio, others }: Finding): Finding['others'] {
  return ratio === null ? others : [{ metric: decides, ratio }, ...others]
}

/** `after handles 8 % (5–11 %) more requests per second at saturation (32 connections, /api/items)` */
export function describeFinding(finding: Finding, result: Result): string {
  const { decides, stall, race, starts, verdict } = finding
  const unsteady = unsteadyOf(finding, result.pilots)
  const isEarly = starts < (result.settings.looks?.at(-1) ?? 0) && isKnown(finding)
  const where = present([
    placeOf(race, result, decides === 'rate'),
    unsteady.length > 0 && `${listOf(unsteady)} may have been cold`,
    verdict && `${isEarly ? 'stopped after ' : ''}${plural(starts, 'start')}, ${formatTime(spentMs(result))}`,
  ]).join('; ')
  const told = describeRatio(finding, result, where)
  if (stall === undefined) return told
  const format = (wait: number) => `${wait.toFixed(wait < 1 ? 3 : 1)} s`
  // Figures leave such moments out.
  return `${told}; but ${stall.system} stopped responding for ${format(stall.seconds)} in the typical start, the other for ${format(stall.other)}`
}

/** Milliseconds from the pilot to the last heat. */
function spentMs({ startedAt, finishedAt, heats }: Result): number {
  if (finishedAt !== null) return Date.parse(finishedAt) - Date.parse(startedAt)
  return heats.reduce((sum, { seconds }) => sum + 1000 * seconds, 0)
}

/** `52 s`, `3 minutes` */
function formatTime(ms: number): string {
  if (ms < 99_500) return `${Math.round(ms / 1000)} s`
  return `${Number((ms / 60_000).toFixed(1))} minutes`
}

/** `32 connections, /api/items`; the connections are the same for all. */
function placeOf(race: string, { cells: [first] }: Result, hasConnections = true): string {
  const path = race.replace(/^GET /, '')
  return hasConnections ? `${plural(first?.connections ?? 0, 'connection')}, ${path}` : path
}

/** A factor that says little in per cent. */
const WIDE = 2

function describeRatio(finding: Finding, result: Result, where: string): string {
  const { decides, over, under, isTwin, ratio, verdict } = finding
  if (ratio === null) return describeVoid(finding, result, where)
  if (isTwin)
    return `${over} (a twin, the noise of this race): ${formatRatioInterval(ratio)} times ${under} by what decides (${where})`
  const { low, high, value } = ratio
  if (low === null || high === null || verdict === null) return describeFew(finding, result, where)
  if (verdict === 'open') return describeOpen(finding, result, where)
  if (verdict === 'alike') return describeAlike(finding, result, where)
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

/** `after is as fast as before, within 3 % (−1.1 to +1.9 %; …)` */
function describeAlike(finding: Finding, { settings: { within = WITHIN } }: Result, where: string): string {
  const { low, high } = speedOf(finding) ?? { low: 1, high: 1 }
  const sign = (part: number) => `${part < 0 ? '−' : '+'}${formatPercent(Math.abs(part))}`
  return `${finding.over} is as fast as ${finding.under}, within ${formatMargin(within)} (${sign(low - 1).replace(' %', '')} to ${sign(high - 1)}; ${where})`
}

function describeOpen(finding: Finding, result: Result, where: string): string {
  const { decides, over, under, needed, starts } = finding
  const ms = spentMs(result)
  const minutes = Math.ceil(((needed ?? 0) * ms) / starts / 60_000)
  const enough =
    result.settings.looks === undefined ? plural(needed ?? 0, 'start') : plural(minutes, 'minute')
  const advice =
    needed === null ? `more than ${MOST_HEATS} starts would be needed` : `${enough} would probably do`
  const { low, high } = speedOf(finding) ?? { low: 0, high: 0 }
  const range =
    high > WIDE * low
      ? `the ${decides === 'rate' ? 'rate' : 'CPU per request'} of ${over} is ${formatEnds(finding.ratio, formatRatio).replace('–', ' to ')} times that of ${under}`
      : `${over} is between ${formatSpeed(low)} and ${formatSpeed(high)} than ${under}`
  return `Not known after ${formatTime(ms)}: ${range}; ${advice} (${where})`
}

/** The first sentence of a report of one system. */
function describeAlone(result: Result): string {
  const [first] = result.analysis?.cells ?? []
  const rate = first?.figures.rate
  if (first === undefined || rate === undefined) return (first && whyVoid(first)) ?? 'Nothing was measured'
  return `${first.system} handles ${formatRate(rate.value)} (${formatRateEnds(rate)}) requests per second at saturation (${placeOf(first.race, result)})`
}

function sectionsOf(result: Result): Section[] {
  const { findings = [], whys = [] } = result.analysis ?? {}
  return raceSections(result).flatMap((section, index) => {
    const pilot = result.pilots[index]
    if (pilot === undefined) return []
    const isOwn = ({ race }: { race: string }) => race === pilot.race
    const own = findings.filter(isOwn)
    return [
      { ...section, notes: [...section.notes, ...pilotNotes(pilot, own[0], result)] },
      ...whys.filter(isOwn).map((why) => whySection(why, result.profiles ?? [])),
      ...own.filter((finding) => ratiosOf(finding).length > 0).map(ratioSection),
    ]
  })
}

/** @param finding which knows what decided, and what others took; undefined if nothing was compared */
function pilotNotes(pilot: PilotRecord, finding: Finding | undefined, { cells: [first] }: Result): string[] {
  const core = (first?.cores.given ?? 1) > 1 ? 'cores' : 'core'
  const { systems, warmupMs } = pilot
  const unknown = systems.filter(({ coreUse }) => coreUse === null)
  const idle = systems.filter(({ coreUse }) => coreUse !== null && coreUse < FULL_CORES)
  const masked = Math.max(...systems.map((one) => one.masked))
  const titlesOf = (some: typeof systems) => listOf(some.map(({ system }) => system))
  const reason =
    (finding ?? pilot).decides === 'rate'
      ? `${unknown.length > 0 ? `The CPU of ${titlesOf(unknown)} is not known` : `The servers fill their ${core}`}, so requests per second decide.`
      : pilot.decides === 'rate'
        ? `Other programs took ${formatPercent(finding?.taken ?? 0)} of the servers' ${core}, so CPU per request decides: a rate would say how much they left.`
        : `${titlesOf(idle)} did not fill the ${core} (it waits for something else, or the generator cannot offer more), so CPU per request decides.`
  return present([
    `${reason} ${warmupMs} ms of load are discarded after each start.`,
    masked > 0 &&
      `Up to ${plural(masked, 'byte')} of a response differ from response to response and were not compared.`,
  ])
}

function ratioSection(finding: Finding): Section {
  const { race, decides, over, under, verdict, whole } = finding
  const rows = ratiosOf(finding).map(({ metric, ratio }) => ({
    name: METRICS[metric].name,
    ratio,
    isTested: metric === decides && verdict !== null,
  }))
  const name = decides === 'rate' ? 'requests / seconds of the whole' : 'CPU / requests of the whole'
  const ratio = { value: whole ?? 0, low: null, high: null }
  if (whole !== null) rows.splice(1, 0, { name, ratio, isTested: false })
  return {
    title: `${over} over ${under}: ${race}`,
    table: tableOf(
      rows,
      [
        left('figure', 0, ({ name }) => name),
        right('ratio', 0, ({ ratio }) => formatRatio(ratio.value)),
        // Around 1, two digits are too few.
        right('95 %', 0, ({ ratio }) => formatEnds(ratio, (end) => end.toFixed(3))),
        left('', 0, ({ isTested }) => (isTested ? 'decides' : 'not tested')),
      ],
      ({ isTested }) => (isTested ? 'best' : 'plain'),
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
  return present([
    ...systems.map(({ title, command, running = UNKNOWN, commit, tools }) => {
      const how = [command?.command ?? running, commit && `at ${commit}`, tools && `with ${tools}`]
      return `${title}: ${present(how).join(', ')}.`
    }),
    `${each}; ${plural(settings.slices, 'slice')} of ${settings.sliceMs} ms at least per ${launch}, in shuffled order.`,
    settings.openLoop === null && 'No latencies: the starts needed all the time. --max-time gives more.',
  ])
}
