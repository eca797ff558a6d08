import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatMs,
  formatParts,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatRatio,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, tableOf, withoutUnknown } from '@startgrid/cli/table.ts'
import { listOf } from '@startgrid/cli/text.ts'
import type { Cell } from '../../model/cell.ts'
import { isProbe, type Metric, type Race, type Study } from '../../model/experiment.ts'
import type { ClaimResult, StudyFigures } from '../../model/figures.ts'
import type { StudyResult } from '../../model/result.ts'
import type { Chart, Section } from '../document.ts'
import { signed } from './costs.ts'

/** A study's figures as tables, the same on a terminal and in Markdown. */

/** All systems of each race. */
export function raceSections(result: StudyResult, own: Study['races']): Section[] {
  const races = [...Map.groupBy(result.cells, ({ race }) => race)]
  return races.map(([race, cells]) => {
    const entries = entriesOf(result, cells)
    return {
      title: titleOf(race, own[race], cells),
      table: withoutUnknown(
        tableOf<Entry>(entries, COLUMNS, ({ shown }) => (isCounted(shown) ? 'plain' : 'void')),
      ),
      notes: [
        ...entries.flatMap(({ cell, shown }) => [...noteOf(cell, shown), ...sharesOf(cell, shown)]),
        ...handshakesOf(entries),
      ],
    }
  })
}

const COLUMNS: readonly ItemColumn<Entry>[] = [
  left('system', 0, ({ cell }) => cell.title),
  right('per s', 0, ({ shown }) => {
    if (shown === undefined) return 'skipped'
    return shown.void !== null ? 'void' : orUnknown(shown.figures.rate?.value, formatRate)
  }),
  counted('95 %', 1, ({ figures: { rate } }) => (rate === undefined ? '' : formatRateEnds(rate))),
  counted('CPU µs', 0, ({ cpu, figures }) => {
    if (cpu.app !== null) return formatParts(cpu, formatMicros)
    return figures.cpu === undefined ? '' : formatMicros(figures.cpu.value)
  }),
  counted('conn/req', 2, ({ upstreamConnections: opened }) => (opened === null ? '' : formatRatio(opened))),
  metric('bytes', 2, 'bytes', formatRate),
  metric('first byte ms', 0, 'first-byte', formatSeconds),
  metric('last byte ms', 0, 'last-byte', formatSeconds),
  metric('start ms', 0, 'startup', formatSeconds),
  metric('MB ready', 1, 'ready-memory', formatMegabytes),
  metric('MB open', 1, 'open-memory', formatMegabytes),
  metric('MB peak', 1, 'peak-memory', formatMegabytes),
]

function titleOf(race: string, own: Race | undefined, cells: readonly Cell[]): string {
  const [first] = cells
  if (own !== undefined && isProbe(own) && own.tool !== undefined) return `${race}: ${own.tool}`
  if (first?.workload == null) return race
  return `${race}: ${first.workload}, ${first.connections?.toLocaleString('en-US')} connections`
}

function noteOf({ title, skipped, cores }: Cell, figures: StudyFigures | undefined): string[] {
  if (skipped !== null) return [`${title} was skipped: ${skipped}.`]
  const reason = figures?.void ?? null
  if (reason !== null) return [`${title} is void: ${reason}.`]
  if (cores.given < cores.wanted)
    return [`${title} had ${cores.given} of the ${cores.wanted} cores that it can use.`]
  return []
}

/** What the connections over TLS agreed on. */
function handshakesOf(entries: readonly Entry[]): string[] {
  const known = entries.flatMap(({ cell, shown }) =>
    (shown?.handshakes ?? []).map((handshake) => ({ handshake, title: cell.title })),
  )
  return [...Map.groupBy(known, ({ handshake }) => handshake)].map(
    ([handshake, own]) => `${handshake}: ${own.map(({ title }) => title).join('; ')}.`,
  )
}

/** How a cluster's requests were spread over its workers. */
function sharesOf({ title }: Cell, figures: StudyFigures | undefined): string[] {
  const shares = figures?.workerShares ?? null
  if (shares === null) return []
  return [
    `${title}: a worker served ${formatPercent(shares.least)} to ${formatPercent(shares.most)} of the requests.`,
  ]
}

/** What each thing costs, if the study takes something apart. */
export function stepSections(result: StudyResult): Section[] {
  const steps = result.analysis?.steps ?? []
  if (steps.length === 0) return []
  const table = tableOf(steps, [
    left('what', 0, ({ what }) => what),
    right('CPU µs', 0, ({ cpu }) => (cpu === null ? UNKNOWN : signed(cpu.to - cpu.from))),
    right('factor', 0, ({ ratio }) => orUnknown(ratio?.value, formatRatio)),
    right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
  ])
  return [{ title: 'What each step costs, per request', table, notes: [] }]
}

/** A row: a system in one race, with its figures; undefined if it was skipped. */
export interface Entry {
  cell: Cell
  shown: StudyFigures | undefined
}

export function entriesOf({ analysis }: StudyResult, cells: readonly Cell[]): Entry[] {
  return cells.map((cell) => ({
    cell,
    shown: analysis?.cells.find((one) => one.race === cell.race && one.system === cell.app),
  }))
}

export function isCounted(shown: StudyFigures | undefined): shown is StudyFigures {
  return shown?.void === null
}

/** A column of figures; blank where nothing counts. */
export function counted(
  heading: string,
  priority: number,
  text: (shown: StudyFigures) => string,
): ItemColumn<Entry> {
  return right(heading, priority, ({ shown }) => (isCounted(shown) ? text(shown) : ''))
}

/** The shortest start first. @returns undefined if no start was measured */
export function startupChart({ analysis }: StudyResult, races: readonly string[]): Chart | undefined {
  const panels = races.map((race) => ({
    title: race,
    dots: (analysis?.cells ?? [])
      .flatMap(({ race: own, system, figures: { startup } }) =>
        own !== race || startup === undefined ? [] : [{ ...startup, name: system, leads: false }],
      )
      .toSorted((one, other) => one.value - other.value),
  }))
  if (panels.every(({ dots }) => dots.length === 0)) return undefined
  return {
    title: 'Time from the start of a process to its first right response',
    caption:
      'With 95 % intervals. On one core, and from files that were just read: a deployment starts otherwise.',
    panels,
    columns: 2,
    axis: { label: 'ms', scale: 'linear', format: (seconds) => formatMs(seconds * 1000) },
  }
}

/** A column of one metric. */
export function metric(
  heading: string,
  priority: number,
  name: Metric,
  format: (value: number) => string,
): ItemColumn<Entry> {
  return counted(heading, priority, ({ figures: { [name]: found } }) =>
    found === undefined ? '' : format(found.value),
  )
}

/** Beside a table with p50 and p99. @param rate requests per second */
export function describeOpenLoop(rate: number): string {
  return `p50 and p99: open loop at ${formatRate(rate)} requests per second, the same for all, from when a request was due.`
}

/** As milliseconds. */
export function formatSeconds(seconds: number): string {
  return formatMs(seconds * 1000)
}

/** How many cores an undecided claim needs, that of the generator included; null if this machine has them. */
export function missingCores(
  { race, against = race, over, under, verdict }: ClaimResult,
  cells: readonly Cell[],
): number | null {
  const small = cells.filter(
    ({ race: own, app, cores }) =>
      ((own === race && app === over) || (own === against && app === under)) && cores.given < cores.wanted,
  )
  if (verdict !== 'undecided here' || small.length === 0) return null
  return Math.max(...small.map(({ cores, workload }) => cores.wanted + (workload === null ? 0 : 1)))
}

/** `express 4 → 5.3.0, fastify 4 → 5.12.8`: the source's versions and ours; null if the source names none. */
export function describeVersions({ source }: Study, { versions: { packages } }: StudyResult): string | null {
  const changes = Object.entries(source?.versions ?? {}).map(
    ([name, theirs]) => `${name} ${theirs} → ${packages[name] ?? 'unknown'}`,
  )
  return changes.length === 0 ? null : changes.join(', ')
}

/** Of the races whose latencies are asked for: at one rate for all. */
export function latencySections(result: StudyResult): Section[] {
  return (result.analysis?.openRates ?? []).map(({ race, rate }, index) => {
    const cells = result.cells.filter((cell) => cell.race === race && cell.openLoop && cell.skipped === null)
    const entries = entriesOf(result, cells)
    return {
      title: `${race}: latency in ms at ${formatRate(rate)} requests per second`,
      table: tableOf<Entry>(entries, columnsOf(rate), (entry) => (isVoid(entry) ? 'void' : 'plain')),
      notes: [...(index === 0 ? [OPEN_LOOP] : []), ...voidNotes(entries), ...lateNotes(entries, HEADINGS)],
    }
  })
}

/** Told once, under the first of them. */
const OPEN_LOOP =
  'Open loop: requests are due at random times, as many for each system, and wait from then on. The load is a part of the rate in closed loop.'

function isVoid({ shown }: Entry): boolean {
  return !isCounted(shown) || (shown.openLoop?.voidedBecause ?? null) !== null
}

const HEADINGS = {
  'mean-latency': 'mean',
  'median-latency': 'p50',
  'p90-latency': 'p90',
  'p97.5-latency': 'p97.5',
  'p99-latency': 'p99',
} as const

function columnsOf(openRate: number): ItemColumn<Entry>[] {
  const open = (heading: string, name: Metric, priority = 0, ifVoid = '') =>
    right<Entry>(heading, priority, (entry) => (isVoid(entry) ? ifVoid : millisecondsOf(entry.shown, name)))
  return [
    left('system', 0, ({ cell }) => cell.title),
    right('load', 3, ({ shown }) => {
      const rate = shown?.figures.rate
      return rate === undefined ? '' : formatPercent(openRate / rate.value)
    }),
    open(HEADINGS['mean-latency'], 'mean-latency', 0, 'void'),
    open(HEADINGS['median-latency'], 'median-latency'),
    open(HEADINGS['p90-latency'], 'p90-latency'),
    open(HEADINGS['p97.5-latency'], 'p97.5-latency', 1),
    open(HEADINGS['p99-latency'], 'p99-latency'),
  ]
}

function millisecondsOf(shown: StudyFigures | undefined, name: Metric): string {
  const found = shown?.figures[name]
  return found === undefined ? '' : formatSeconds(found.value)
}

/** A system or an app, with what is known of its open loops. */
interface Late {
  cell: Pick<Cell, 'title'>
  shown: Partial<Pick<StudyFigures, 'openLoop' | 'void'>> | undefined
}

/** Each reason once. What voids a system itself is said beside its rate. */
export function voidNotes(entries: readonly Late[]): string[] {
  const voided = entries.flatMap(({ cell, shown }) => {
    const reason = shown?.openLoop?.voidedBecause ?? null
    return reason === null || shown?.void ? [] : [{ title: cell.title, reason }]
  })
  return [...Map.groupBy(voided, ({ reason }) => reason)].map(
    ([reason, group]) => `The latency of ${listOf(group.map(({ title }) => title))} is void: ${reason}.`,
  )
}

/** What a late generator left out of a table, of all systems that lack the same. @param names headings of its latencies */
export function lateNotes(entries: readonly Late[], names: { [Name in Metric]?: string }): string[] {
  const late = entries.flatMap(({ cell, shown }) => {
    const left = (shown?.openLoop?.late ?? []).flatMap((one) => names[one] ?? [])
    return left.length === 0 || shown?.void ? [] : [{ title: cell.title, left: listOf(left) }]
  })
  return [...Map.groupBy(late, ({ left }) => left)].map(
    ([left, group]) =>
      `No ${left} of ${listOf(group.map(({ title }) => title))}: in more than half of the launches, more than 10 % of it may be the doing of a generator that was late.`,
  )
}
