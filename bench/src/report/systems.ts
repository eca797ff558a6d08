import {
  formatEnds,
  formatMicros,
  formatParts,
  formatPercent,
  formatRank,
  formatRate,
  formatRateEnds,
  formatRatio,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, type Table, tableOf, withoutUnknown } from '@startgrid/cli/table.ts'
import { listOf, present } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { StandingEntry } from '../judge/ranks.ts'
import type { CellFigures } from '../result/figures.ts'
import { ALL_METRICS, METRICS, type Metric } from '../result/metrics.ts'
import { type Cell, nameOf, type Result } from '../result/result.ts'

/** The systems of a race with their figures: the table of the grid, of studies and of races of commands. */

/** A system in one race. Without figures it was skipped; without a place nothing ranks it. */
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
    tableOf(entries, columnsOf(baseline, counts), ({ figures, place }) => {
      if (figures === undefined || figures.void !== null) return 'void'
      return place?.from === 1 ? 'best' : 'plain'
    }),
  )
}

const columnsOf = (baseline: string, counts: string): ItemColumn<Entry>[] => [
  left('system', 0, ({ spec }) => nameOf(spec)),
  // The second column, so that a phone shows it.
  right(`× ${baseline}`, 0, (entry) => ratioText(entry, '1', ({ value }) => formatRatio(value))),
  right('95 %', 1, (entry) => ratioText(entry, '', (ratio) => formatEnds(ratio, formatRatio))),
  right('rank', 0, ({ place }) => (place ? formatRank(place) : '')),
  right(counts, 0, ({ figures }) => {
    if (figures === undefined) return 'skipped'
    return figures.void !== null ? 'void' : orUnknown(figures.figures.rate?.value, METRICS.rate.format)
  }),
  counted('95 %', 2, ({ figures: { rate } }) => (rate === undefined ? '' : formatRateEnds(rate))),
  metricColumn('cpu'),
  counted('95 %', 4, ({ figures: { cpu } }) => (cpu === undefined ? '' : formatEnds(cpu, formatMicros))),
  counted('app+proxy µs', 2, ({ cpu }) => (cpu.proxy ? formatParts(cpu, formatMicros) : '')),
  counted('conn/req', 2, ({ upstreamConnections: opened }) => (opened === null ? '' : formatRatio(opened))),
  ...ALL_METRICS.filter((name) => name !== 'rate' && name !== 'cpu').map(metricColumn),
  right('core', 7, ({ figures }) => orUnknown(figures?.coreUse, formatPercent)),
]

/** Blank where nothing ranks; the baseline over itself is 1, but for rounding. */
function ratioText({ place }: Entry, itself: string, text: (ratio: Interval) => string): string {
  const ratio = place?.ratio ?? null
  if (ratio === null) return ''
  const { value, low, high } = ratio
  return [value, low ?? 1, high ?? 1].every((one) => Math.abs(one - 1) < 1e-9) ? itself : text(ratio)
}

/** A column of figures; blank where nothing counts. */
function counted(
  heading: string,
  priority: number,
  text: (figures: CellFigures) => string,
): ItemColumn<Entry> {
  return right(heading, priority, ({ figures }) => (figures?.void === null ? text(figures) : ''))
}

function metricColumn(metric: Metric): ItemColumn<Entry> {
  const { heading, priority, format } = METRICS[metric]
  return counted(heading, priority, ({ figures: { [metric]: found }, peakMemory }) => {
    if (found !== undefined) return format(found.value)
    return metric === 'peak-memory' ? formatParts(peakMemory, format) : ''
  })
}

/** What the table rests on, and why something is not in it; of all systems that have it in common in one sentence. */
export function systemNotes(entries: readonly Entry[], race: string, { analysis }: Result): string[] {
  const rate = analysis?.openRates.find((one) => one.race === race)?.rate
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
    ...present([
      rate !== undefined &&
        `Latencies: open loop at ${formatRate(rate)} requests per second, the same for all, from when a request was due.`,
    ]),
    ...entries.flatMap(({ spec: { skipped, cores, title } }) => {
      if (skipped !== null) return `${title} was skipped: ${skipped}.`
      const { given, wanted } = cores
      return given < wanted ? `${title} had ${given} of the ${wanted} cores that it can use.` : []
    }),
    ...shared(
      (one) => one.void,
      (reason, titles) => `Void: ${titles} (${reason}).`,
    ),
    ...shared(
      (one) => (counts(one) ? one.openLoop?.voidedBecause : null),
      (reason, titles) => `The latency of ${titles} is void: ${reason}.`,
    ),
    ...shared(
      (one) => {
        const late = counts(one) ? (one.openLoop?.late ?? []).filter((name) => METRICS[name].compared) : []
        return late.length === 0 ? null : listOf(late.map((name) => METRICS[name].name))
      },
      (latencies, titles) =>
        `No ${latencies} of ${titles}: in more than half of the launches, a late generator may have made it more than 10 % longer.`,
    ),
    ...shared(
      ({ handshakes }) => handshakes,
      (handshake, titles) => `${handshake}: ${titles}.`,
    ),
  ]
}
