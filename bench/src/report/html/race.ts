import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatParts,
  formatRank,
  formatRate,
  formatRateEnds,
  formatRatio,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Standing, StandingEntry } from '../../judge/standings.ts'
import type { CellFigures, Metric } from '../../model/figures.ts'
import { METRIC_NAMES, nameOf } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { gatesText } from '../race-table.ts'
import type { Section } from '../section.ts'
import { describeControl, describeSmallestEffect, describeTies, shortName } from '../summary.ts'
import { filterable } from './chart.ts'
import { html, type Markup, type Part, prose } from './markup.ts'
import { type Heading, numberCell, rowHeading, stacked, table } from './table.ts'
import { linearAxis, ratioAxis, whiskerCell, whiskerHeading } from './whisker.ts'

/** One race: its table, best first, and what must be said about it. */
export function raceBlock(standing: Standing, { title }: Section, result: RaceResult): Markup {
  const race = standing.races.rate
  const notes =
    race === null
      ? []
      : [describeTies(race, result), describeControl(race, result), describeSmallestEffect(race)].filter(
          (note) => note !== null,
        )
  return html`<article id="${raceId(standing)}"${filterable(standing)}>
<h3>${title}</h3>
${raceTable(standing, result)}
${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul>`}
</article>`
}

function raceId({ role, topology }: Pick<Standing, 'role' | 'topology'>): string {
  return `race-${role}-${topology}`
}

/** A column, or several that belong together. */
interface ColumnGroup {
  headings: Heading[]
  isKnown(entry: StandingEntry): boolean
  cells(entry: StandingEntry): Markup[]
}

function raceTable(standing: Standing, result: RaceResult): Markup {
  const { role, topology, races } = standing
  const groups = columnGroupsOf(standing, result)
  const headings: Heading[] = [
    { text: 'Rank', align: 'right', sortable: true, sorted: 'ascending' },
    { text: 'Framework', sortable: true },
    ...groups.flatMap((group) => group.headings),
  ]
  const columns = groups.reduce((sum, group) => sum + group.headings.length, 0)
  const ranked = races.rate === null ? 'not ranked' : `ranked by ${METRIC_NAMES.rate}`
  return table(
    `${role} ${topology}, ${ranked}`,
    headings,
    standing.entries.map((entry) => rowOf(entry, groups, columns)),
    'race',
  )
}

function rowOf(entry: StandingEntry, groups: readonly ColumnGroup[], columns: number): Markup {
  const { spec, figures, places } = entry
  const place = places.rate
  const open = html`data-cell${filterable(spec, spec.framework)}`
  const name = rowHeading(figures.voided ? html`<s>${nameOf(spec)}</s>` : nameOf(spec))
  if (figures.voided && figures.rate === null && figures.cpu === null) {
    return html`<tr class="void" ${open}><td class="right">void</td>${name}<td colspan="${columns}">${whyVoid(figures)}</td></tr>`
  }
  const rank = figures.voided
    ? numberCell(null, 'void')
    : numberCell(place && place.from * 100 + place.to, place && formatRank(place))
  const tone = figures.voided ? 'void' : place?.from === 1 ? 'best' : 'plain'
  return html`<tr class="${tone}" ${open}>${rank}${name}${groups.map((group) => group.cells(entry))}</tr>`
}

/** The gates that failed, what they found and what to do. */
function whyVoid({ gates, slices }: CellFigures): Part {
  const failed = gates.filter(({ verdict }) => verdict === 'failed')
  if (failed.length === 0) return slices === 0 ? 'Nothing was measured.' : 'It has no number.'
  return failed.map(
    ({ gate, finding, advice }) =>
      html`<span class="why"><b>${gate}</b> ✗ ${finding}. ${prose(advice ?? '')}</span> `,
  )
}

/** What the system tells: a column without any figure is left out. */
function columnGroupsOf(standing: Standing, result: RaceResult): ColumnGroup[] {
  const [rate, cpu] = [metricColumns('rate', standing), metricColumns('cpu', standing)]
  const groups = [rate, ratioColumns(standing, result), cpu, ...PARTS, memoryColumns, gatesColumns]
  return groups.filter((group) => standing.entries.some(group.isKnown))
}

/** Value and interval; the metric that ranks has a whisker too. */
function metricColumns(metric: Metric, standing: Standing): ColumnGroup {
  const leads = metric === 'rate'
  const axis = linearAxis(standing.entries.map(({ figures }) => figures[metric]))
  const [unit, format, ends] =
    metric === 'rate'
      ? (['req/s', formatRate, formatRateEnds] as const)
      : (['CPU µs/req', formatMicros, (one: Interval | null) => formatEnds(one, formatMicros)] as const)
  const heading: Heading = { text: stacked(unit, '95 % interval'), align: 'right', sortable: true }
  return {
    headings: leads
      ? [heading, whiskerHeading(unit, axis, (end) => (end === 0 ? '0' : format(end)))]
      : [heading],
    isKnown: ({ figures }) => figures[metric] !== null,
    cells: ({ spec, figures }) => {
      const interval = figures[metric]
      const text = interval === null ? '—' : stacked(format(interval.value), ends(interval))
      const value = numberCell(interval?.value, text, leads ? 'lead' : '')
      return leads ? [value, whiskerCell(interval, axis, spec.framework)] : [value]
    },
  }
}

/** The metric that ranks, over the baseline. */
function ratioColumns({ races, entries }: Standing, result: RaceResult): ColumnGroup {
  const race = races.rate
  const axis = ratioAxis(entries.map(({ places }) => places.rate?.ratio ?? null))
  const name = race === null ? 'baseline' : shortName(race.baseline, result)
  return {
    headings: [
      { text: stacked(`× ${name}`, '95 % interval'), align: 'right', sortable: true },
      whiskerHeading(`ratio to ${name}`, axis, formatRatio),
    ],
    isKnown: ({ places }) => places.rate !== null,
    cells: ({ spec, places }) => {
      const ratio = places.rate?.ratio ?? null
      if (ratio === null) return [numberCell(null, '—'), html`<td></td>`]
      if (spec.id === race?.baseline)
        return [
          numberCell(1, stacked('1', 'baseline')),
          whiskerCell({ value: 1, low: null, high: null }, axis, spec.framework),
        ]
      const text = stacked(formatRatio(ratio.value), formatEnds(ratio, formatRatio))
      return [numberCell(ratio.value, text), whiskerCell(ratio, axis, spec.framework)]
    },
  }
}

/** Server and proxy share a core; the generator has its own. */
const PARTS: readonly ColumnGroup[] = (['app', 'proxy', 'generator'] as const).map((part) => ({
  headings: [{ text: stacked(part, 'CPU µs'), align: 'right', sortable: true }],
  isKnown: ({ figures }) => figures.cpuParts[part] !== null,
  cells: ({ figures: { cpuParts } }) => [numberCell(cpuParts[part], orUnknown(cpuParts[part], formatMicros))],
}))

const memoryColumns: ColumnGroup = {
  headings: [{ text: stacked('peak MB', 'app+proxy'), align: 'right', sortable: true }],
  isKnown: ({ figures }) => figures.peakMemory.app !== null,
  cells: ({ figures: { peakMemory } }) => [
    numberCell(
      peakMemory.app === null ? null : peakMemory.app + (peakMemory.proxy ?? 0),
      formatParts(peakMemory, formatMegabytes),
    ),
  ],
}

const gatesColumns: ColumnGroup = {
  headings: [{ text: 'Gates' }],
  isKnown: () => true,
  cells: ({ figures }) => [
    html`<td class="gates">${figures.voided ? whyVoid(figures) : html`<a href="#gates">${gatesText(figures.gates)}</a>`}</td>`,
  ],
}
