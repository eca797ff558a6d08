import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatParts,
  formatPercent,
  formatRank,
  formatRate,
  formatRateEnds,
  formatRatio,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import {
  type ItemColumn,
  left,
  type Row,
  right,
  type Table,
  tableOf,
  withoutUnknown,
} from '@startgrid/cli/table.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Standing, StandingEntry } from '../judge/standings.ts'
import type { CellFigures, GateResult, Metric } from '../model/figures.ts'
import { nameOf } from '../model/names.ts'

/** The table of one race: the metric that ranks comes first. */

type EntryColumn = ItemColumn<StandingEntry>

export function raceTable(standing: Standing, baselineName: string): Table {
  return withoutUnknown(tableOf(standing.entries, columnsOf(standing, baselineName), toneOf))
}

function toneOf({ figures, places }: StandingEntry): Row['tone'] {
  return figures.voided ? 'void' : places.rate?.from === 1 ? 'best' : 'plain'
}

function columnsOf(standing: Standing, baselineName: string): EntryColumn[] {
  return [
    right('rank', 0, ({ figures, places }) => (figures.voided ? 'void' : rankText(places.rate))),
    left('framework', 0, ({ spec }) => nameOf(spec)),
    ...metricColumns('rate', [0, 0, 1, 1], baselineName, standing),
    ...metricColumns('cpu', [2, 4, 5, 5], baselineName, standing),
    right('CPU rank', 4, ({ places }) => rankText(places.cpu)),
    ...PARTS,
  ]
}

function rankText(place: StandingEntry['places'][Metric]): string {
  return place === null ? '' : formatRank(place)
}

/** Value, its interval, ratio to the baseline, its interval. */
function metricColumns(
  metric: Metric,
  [value, ends, ratio, ratioEnds]: readonly [number, number, number, number],
  baselineName: string,
  { races }: Standing,
): EntryColumn[] {
  const isBaseline = ({ spec }: StandingEntry) => spec.id === races[metric]?.baseline
  const ratioText = (entry: StandingEntry, format: (interval: Interval) => string) => {
    const found = entry.places[metric]?.ratio ?? null
    return found === null ? '' : format(found)
  }
  return [
    right(
      metric === 'rate' ? 'req/s' : 'CPU µs',
      value,
      ifCounted((figures) => valueText(metric, figures)),
    ),
    right('95 %', ends, ({ figures }) => endsText(metric, figures[metric])),
    right(`× ${baselineName}`, ratio, (entry) =>
      isBaseline(entry) ? '1' : ratioText(entry, (found) => formatRatio(found.value)),
    ),
    right('95 %', ratioEnds, (entry) =>
      isBaseline(entry) ? '' : ratioText(entry, (found) => formatEnds(found, formatRatio)),
    ),
  ]
}

function valueText(metric: Metric, figures: CellFigures): string {
  return orUnknown(figures[metric]?.value, metric === 'rate' ? formatRate : formatMicros)
}

function endsText(metric: Metric, interval: Interval | null): string {
  if (interval === null) return ''
  return metric === 'rate' ? formatRateEnds(interval) : formatEnds(interval, formatMicros)
}

/** What only a wide terminal has room for, except memory. */
const PARTS: readonly EntryColumn[] = [
  right(
    'peak MB',
    3,
    ifCounted(({ peakMemory }) => formatParts(peakMemory, formatMegabytes)),
  ),
  right(
    'app+proxy µs',
    6,
    ifCounted(({ cpuParts }) => formatParts(cpuParts, formatMicros)),
  ),
  right(
    'generator µs',
    6,
    ifCounted(({ cpuParts }) => orUnknown(cpuParts.generator, formatMicros)),
  ),
  right('core', 7, ({ figures }) => orUnknown(figures.coreUse, formatPercent)),
  right('launches', 8, ({ figures }) => String(figures.launches)),
  right('slices', 8, ({ figures }) => String(figures.slices)),
  left('gates', 9, ({ figures }) => gatesText(figures.gates)),
  right('disturbed', 10, ({ figures }) => String(figures.disturbed)),
]

/** Blank for a voided cell without numbers. */
function ifCounted(text: (figures: CellFigures) => string): EntryColumn['text'] {
  return ({ figures }) => (figures.voided && figures.rate === null ? '' : text(figures))
}

/** `6 passed, 1 unknown`, or the names of the failed gates. Gates that a cell does not need are left out. */
export function gatesText(gates: readonly GateResult[]): string {
  const failed = gates.filter(({ verdict }) => verdict === 'failed')
  if (failed.length > 0) return `failed: ${failed.map(({ gate }) => gate).join(', ')}`
  return ['passed', 'unknown']
    .map((verdict) => ({ verdict, count: gates.filter((gate) => gate.verdict === verdict).length }))
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${count} ${verdict}`)
    .join(', ')
}
