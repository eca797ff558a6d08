import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatMs,
  formatParts,
  formatPercent,
  formatRank,
  formatRate,
  formatRateEnds,
  formatRatio,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, type Table, tableOf, withoutUnknown } from '@startgrid/cli/table.ts'
import { listOf } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { StandingEntry } from '../judge/standings.ts'
import type { Cell } from '../result/cell.ts'
import type { Metric } from '../result/experiment.ts'
import type { CellFigures, MainMetric } from '../result/figures.ts'
import { nameOf } from '../result/names.ts'
import type { Result } from '../result/result.ts'

/** The systems of a race with their figures: the table of the grid, of studies and of races of commands. */

/** A system in one race. Without figures it was skipped; without places nothing ranks it. */
export type Entry = Pick<StandingEntry, 'spec'> & Partial<StandingEntry>

export function entriesOf({ analysis }: Pick<Result, 'analysis'>, cells: readonly Cell[]): Entry[] {
  return cells.map((spec) => {
    const figures = analysis?.cells.find(({ cell }) => cell === spec.id)
    return { spec, ...(figures !== undefined && { figures }) }
  })
}

/** @param baseline whose ratio is 1. @param counts what a second has of */
export function systemsTable(entries: readonly Entry[], baseline = '', counts = 'req/s'): Table {
  return withoutUnknown(
    tableOf(entries, columnsOf(baseline, counts), ({ figures, places }) => {
      if (figures === undefined || figures.void !== null) return 'void'
      return places?.rate?.from === 1 ? 'best' : 'plain'
    }),
  )
}

/** The ratio is the second column, so that a phone shows it. */
const columnsOf = (baseline: string, counts: string): ItemColumn<Entry>[] => [
  left('system', 0, ({ spec }) => nameOf(spec)),
  ...placeColumns('rate', [`× ${baseline}`, 'rank'], [0, 1, 0]),
  right(counts, 0, ({ figures }) => {
    if (figures === undefined) return 'skipped'
    return figures.void !== null ? 'void' : orUnknown(figures.figures.rate?.value, formatRate)
  }),
  counted('95 %', 2, ({ figures: { rate } }) => (rate === undefined ? '' : formatRateEnds(rate))),
  metric('CPU µs', 0, 'cpu', formatMicros),
  counted('95 %', 4, ({ figures: { cpu } }) => (cpu === undefined ? '' : formatEnds(cpu, formatMicros))),
  counted('app+proxy µs', 2, ({ cpu }) => (cpu.proxy ? formatParts(cpu, formatMicros) : '')),
  ...placeColumns('cpu', [`CPU × ${baseline}`, 'CPU rank'], [5, 5, 4]),
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
  counted('MB peak', 3, ({ figures: { 'peak-memory': peak }, peakMemory }) =>
    peak === undefined ? formatParts(peakMemory, formatMegabytes) : formatMegabytes(peak.value),
  ),
  counted('generator µs', 6, ({ cpu }) => orUnknown(cpu.generator, formatMicros)),
  right('core', 7, ({ figures }) => orUnknown(figures?.coreUse, formatPercent)),
  ...(['launches', 'slices', 'disturbed'] as const).map((name) =>
    right<Entry>(name, 8, ({ figures }) => (figures === undefined ? '' : String(figures[name]))),
  ),
]

/** The ratio to the baseline, its interval, and the rank; blank where nothing ranks. */
function placeColumns(
  metric: MainMetric,
  [ratio, rank]: readonly [string, string],
  [value, ends, place]: readonly [number, number, number],
): ItemColumn<Entry>[] {
  const told = (itself: string, text: (ratio: Interval) => string) => (entry: Entry) => {
    const own = entry.places?.[metric]?.ratio ?? null
    if (own === null) return ''
    // The baseline over itself is 1, but for rounding.
    const { value, low, high } = own
    return [value, low ?? 1, high ?? 1].every((one) => Math.abs(one - 1) < 1e-9) ? itself : text(own)
  }
  return [
    right(
      ratio,
      value,
      told('1', (own) => formatRatio(own.value)),
    ),
    right(
      '95 %',
      ends,
      told('', (own) => formatEnds(own, formatRatio)),
    ),
    right(rank, place, ({ places }) => (places?.[metric] ? formatRank(places[metric]) : '')),
  ]
}

/** A column of figures; blank where nothing counts. */
function counted(
  heading: string,
  priority: number,
  text: (figures: CellFigures) => string,
): ItemColumn<Entry> {
  return right(heading, priority, ({ figures }) => (figures?.void === null ? text(figures) : ''))
}

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

/** As milliseconds. */
export function formatSeconds(seconds: number): string {
  return formatMs(seconds * 1000)
}

const LATE: Partial<Record<Metric, string>> = { 'median-latency': 'p50', 'p99-latency': 'p99' }

/** What the table rests on, and why something is not in it; of all systems that have it in common in one sentence. */
export function systemNotes(entries: readonly Entry[], rate: number | undefined): string[] {
  const shared = (
    whatOf: (figures: CellFigures) => string | readonly string[] | null | undefined,
    say: (what: string, titles: string) => string,
  ) => {
    const known = entries.flatMap(({ spec, figures }) =>
      [(figures && whatOf(figures)) ?? []].flat().map((what) => ({ what, title: nameOf(spec) })),
    )
    return [...Map.groupBy(known, ({ what }) => what)].map(([what, own]) =>
      say(what, listOf(own.map(({ title }) => title))),
    )
  }
  const counts = ({ void: reason }: CellFigures) => reason === null
  return [
    ...(rate === undefined
      ? []
      : [
          `Latencies: open loop at ${formatRate(rate)} requests per second, the same for all, from when a request was due.`,
        ]),
    ...entries.flatMap(({ spec: { skipped, cores, title } }) => [
      ...(skipped === null ? [] : [`${title} was skipped: ${skipped}.`]),
      ...(skipped === null && cores.given < cores.wanted
        ? [`${title} had ${cores.given} of the ${cores.wanted} cores that it can use.`]
        : []),
    ]),
    ...shared(
      (one) => one.void,
      (reason, titles) => `Void: ${titles} (${reason}).`,
    ),
    ...shared(
      (one) => (counts(one) ? one.openLoop?.voidedBecause : null),
      (reason, titles) => `The latency of ${titles} is void: ${reason}.`,
    ),
    ...shared(
      (one) =>
        (counts(one) ? listOf((one.openLoop?.late ?? []).flatMap((name) => LATE[name] ?? [])) : null) || null,
      (percentiles, titles) =>
        `No ${percentiles} of ${titles}: in more than half of the launches, more than 10 % of it may be the doing of a generator that was late.`,
    ),
    ...shared(
      ({ handshakes }) => handshakes,
      (handshake, titles) => `${handshake}: ${titles}.`,
    ),
  ]
}
