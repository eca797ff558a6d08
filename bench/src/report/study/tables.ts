import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatMs,
  formatParts,
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
import type { CellFigures, ClaimResult } from '../../model/figures.ts'
import type { Result } from '../../model/result.ts'
import type { Chart, Section } from '../document.ts'
import { signed } from './costs.ts'

/** The figures of a study and of a race of commands as tables, the same on a terminal and in Markdown. */

/** All systems of each race. */
export function raceSections(result: Result, own: Study['races'] = {}): Section[] {
  return [...Map.groupBy(result.cells, ({ race }) => race)].map(([race, cells]) => {
    const entries = entriesOf(result, cells)
    const rate = result.analysis?.openRates.find((one) => one.race === race)?.rate
    return {
      title: titleOf(race, own[race], cells),
      table: withoutUnknown(
        tableOf<Entry>(entries, columnsOf(own[race]), ({ shown }) => (isCounted(shown) ? 'plain' : 'void')),
      ),
      notes: [
        ...(rate === undefined ? [] : [describeOpenLoop(rate)]),
        ...entries.flatMap(({ cell, shown }) => noteOf(cell, shown)),
        ...voidNotes(entries),
        ...lateNotes(entries),
        ...handshakesOf(entries),
      ],
    }
  })
}

/** What a probe counts per second need not be requests. */
const columnsOf = (own: Race | undefined): ItemColumn<Entry>[] => [
  left('system', 0, ({ cell }) => cell.title),
  right(own !== undefined && isProbe(own) ? 'per s' : 'req/s', 0, ({ shown }) => {
    if (shown === undefined) return 'skipped'
    return shown.void !== null ? 'void' : orUnknown(shown.figures.rate?.value, formatRate)
  }),
  counted('95 %', 2, ({ figures: { rate } }) => (rate === undefined ? '' : formatRateEnds(rate))),
  counted('CPU µs', 0, ({ cpu, figures }) => {
    if (cpu.proxy !== null) return formatParts(cpu, formatMicros)
    return figures.cpu === undefined ? '' : formatMicros(figures.cpu.value)
  }),
  counted('conn/req', 2, ({ upstreamConnections: opened }) => (opened === null ? '' : formatRatio(opened))),
  metric('bytes', 4, 'bytes', formatRate),
  metric('first byte ms', 0, 'first-byte', formatSeconds),
  metric('last byte ms', 0, 'last-byte', formatSeconds),
  metric('p50 ms', 1, 'median-latency', formatSeconds),
  metric('p99 ms', 1, 'p99-latency', formatSeconds),
  metric('mean ms', 3, 'mean-latency', formatSeconds),
  metric('p90 ms', 3, 'p90-latency', formatSeconds),
  metric('p97.5 ms', 3, 'p97.5-latency', formatSeconds),
  metric('start ms', 2, 'startup', formatSeconds),
  metric('MB ready', 3, 'ready-memory', formatMegabytes),
  metric('MB peak', 3, 'peak-memory', formatMegabytes),
]

function titleOf(race: string, own: Race | undefined, cells: readonly Cell[]): string {
  const [first] = cells
  if (own !== undefined && isProbe(own) && own.tool !== undefined) return `${race}: ${own.tool}`
  if (first?.workload == null) return race
  // A race of commands is named by what is asked.
  const asked = own === undefined ? '' : `: ${first.workload}`
  return `${race}${asked}, ${first.connections.toLocaleString('en-US')} connections`
}

function noteOf({ title, skipped, cores }: Cell, figures: CellFigures | undefined): string[] {
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

/** What each thing costs, if the study takes something apart. */
export function stepSections(result: Result): Section[] {
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
interface Entry {
  cell: Cell
  shown: CellFigures | undefined
}

function entriesOf({ analysis }: Result, cells: readonly Cell[]): Entry[] {
  return cells.map((cell) => ({
    cell,
    shown: analysis?.cells.find((one) => one.race === cell.race && one.system === cell.app),
  }))
}

function isCounted(shown: CellFigures | undefined): shown is CellFigures {
  return shown?.void === null
}

/** A column of figures; blank where nothing counts. */
function counted(heading: string, priority: number, text: (shown: CellFigures) => string): ItemColumn<Entry> {
  return right(heading, priority, ({ shown }) => (isCounted(shown) ? text(shown) : ''))
}

/** The shortest start first. @returns undefined if no start was measured */
export function startupChart({ analysis }: Result, races: readonly string[]): Chart | undefined {
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
function metric(
  heading: string,
  priority: number,
  name: Metric,
  format: (value: number) => string,
): ItemColumn<Entry> {
  return counted(heading, priority, ({ figures: { [name]: found } }) =>
    found === undefined ? '' : format(found.value),
  )
}

/** Beside a table with latencies. @param rate requests per second */
export function describeOpenLoop(rate: number): string {
  return `Latencies: open loop at ${formatRate(rate)} requests per second, the same for all, from when a request was due.`
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
export function describeVersions({ source }: Study, { versions: { packages } }: Result): string | null {
  const changes = Object.entries(source?.versions ?? {}).map(
    ([name, theirs]) => `${name} ${theirs} → ${packages[name] ?? 'unknown'}`,
  )
  return changes.length === 0 ? null : changes.join(', ')
}

/** A system or an app, with what is known of its open loops. */
interface Late {
  cell: Pick<Cell, 'title'>
  shown: Partial<Pick<CellFigures, 'openLoop' | 'void'>> | undefined
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

const NAMED: { [Name in Metric]?: string } = { 'median-latency': 'p50', 'p99-latency': 'p99' }

/** What a late generator left out of a table, of all systems that lack the same. */
export function lateNotes(entries: readonly Late[]): string[] {
  const late = entries.flatMap(({ cell, shown }) => {
    const left = (shown?.openLoop?.late ?? []).flatMap((one) => NAMED[one] ?? [])
    return left.length === 0 || shown?.void ? [] : [{ title: cell.title, left: listOf(left) }]
  })
  return [...Map.groupBy(late, ({ left }) => left)].map(
    ([left, group]) =>
      `No ${left} of ${listOf(group.map(({ title }) => title))}: in more than half of the launches, more than 10 % of it may be the doing of a generator that was late.`,
  )
}
