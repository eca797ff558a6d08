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
import { isShown, SIGNIFICANT } from '../judge/comparisons.ts'
import { openRateOf } from '../judge/latencies.ts'
import { type Standing, type StandingEntry, standingsOf, tiesOf } from '../judge/standings.ts'
import type { CellFigures, Control, MainMetric, ProxyCost } from '../model/figures.ts'
import { METRIC_NAMES, nameOf } from '../model/names.ts'
import type { Result } from '../model/result.ts'
import { type Chart, type Panel, ratioChart, type Section } from './document.ts'
import { describeOpenLoop, formatSeconds, lateNotes, voidNotes as openLoopNotes } from './study/tables.ts'
import { describeUnplaced, formatEffect, leadersOf, outcomeOf, shortName } from './summary.ts'

/** Every race as one picture, best first: topologies as columns, roles as rows. */
export function raceChart(result: Result): Chart | undefined {
  const races = standingsOf(result).filter(({ entries }) => entries.some(({ places }) => places.rate?.ratio))
  const order = (of: (race: Standing) => string) => [...new Set(races.map(of))]
  const [roles, topologies] = [order(({ race }) => race), order(({ topology }) => topology)]
  const baselines = order(({ races: { rate } }) => shortName(rate?.baseline ?? '', result))
  const panels = roles.flatMap((role) =>
    topologies.flatMap((topology) => {
      const standing = races.find((one) => one.race === role && one.topology === topology)
      return standing === undefined ? [] : panelOf(standing, result)
    }),
  )
  const names = baselines.join(' or ')
  return ratioChart({
    title: `${METRIC_NAMES.rate} over ${names}`,
    caption:
      'Best first, with 95 % intervals; who leads in colour. A bracket joins apps that were not told apart. The scale is logarithmic.',
    panels,
    columns: topologies.length,
    label: `× ${names}`,
  })
}

function panelOf({ race: role, topology, entries, races }: Standing, result: Result): Panel {
  const race = races.rate
  const leaders = race === null ? [] : leadersOf(race).leaders
  const dots = entries.flatMap(({ spec, places: { rate } }) => {
    const ratio = rate?.ratio ?? null
    return ratio === null ? [] : [{ ...ratio, name: nameOf(spec), leads: leaders.includes(spec.id) }]
  })
  const ties = race === null ? [] : tiesOf(race)
  return {
    title: `${role} ${topology}`,
    dots,
    ties: ties.map((cells) => cells.map((cell) => shortName(cell, result))),
  }
}

/** The sections of a race: a table per role and topology, what NGINX costs, and what they rest on. */
export function raceSections(result: Result): Section[] {
  if (result.analysis === null) return []
  return [
    ...standingsOf(result).map((standing) => standingSection(standing, result)),
    ...proxySection(result),
    ...pairSections(result),
    ...controlSection(result),
  ]
}

function standingSection(standing: Standing, result: Result): Section {
  const { race: role, topology, workload, connections, races } = standing
  const outcome = outcomeOf(standing, result)
  const found = outcome === null ? '' : `${outcome}; `
  return {
    title: `${role} ${topology}: ${found}${workload}, ${connections} connections`,
    table: standingTable(standing, races.rate === null ? 'baseline' : shortName(races.rate.baseline, result)),
    notes: [
      ...voidNotes(standing, result),
      ...describeUnplaced(standing, result),
      ...latencyNotes(standing, result),
    ],
  }
}

/** The twin counts too. */
function voidNotes({ race: role, topology }: Standing, result: Result): string[] {
  const own = new Set(
    result.cells.filter((cell) => cell.role === role && cell.topology === topology).map(({ id }) => id),
  )
  const figures = result.analysis?.cells.filter(({ cell }) => own.has(cell)) ?? []
  const texts = figures.flatMap((one) =>
    one.void === null ? [] : `${shortName(one.cell, result)} (${one.void})`,
  )
  return texts.length === 0 ? [] : [`Void: ${texts.join('; ')}.`]
}

/** At which rate latencies are measured, and why one is missing. */
function latencyNotes({ race, entries }: Standing, { heats }: Result): string[] {
  const rate = openRateOf(heats, race)
  if (rate === undefined) return []
  const late = entries.map(({ spec, figures }) => ({ cell: { title: nameOf(spec) }, shown: figures }))
  return [describeOpenLoop(rate), ...openLoopNotes(late), ...lateNotes(late)]
}

type EntryColumn = ItemColumn<StandingEntry>

const LATENCIES = [
  ['p50 ms', 'median-latency'],
  ['p99 ms', 'p99-latency'],
] as const

/** The ratio is the second column, so that a phone shows it. */
function standingTable(standing: Standing, baseline: string): Table {
  const toneOf = ({ figures, places }: StandingEntry): Row['tone'] =>
    figures.void !== null ? 'void' : places.rate?.from === 1 ? 'best' : 'plain'
  const columns = [
    left<StandingEntry>('framework', 0, ({ spec }) => nameOf(spec)),
    ...ratioColumns('rate', [0, 1], baseline, standing),
    right<StandingEntry>('rank', 0, ({ places }) => (places.rate === null ? '' : formatRank(places.rate))),
    ...valueColumns('rate', [0, 0]),
    ...LATENCIES.map(([heading, metric]) =>
      counted(heading, 1, ({ figures }) => orUnknown(figures[metric]?.value, formatSeconds)),
    ),
    ...valueColumns('cpu', [2, 4]),
    right<StandingEntry>('CPU rank', 4, ({ places }) => (places.cpu === null ? '' : formatRank(places.cpu))),
    ...ratioColumns('cpu', [5, 5], baseline, standing),
    ...PARTS,
  ]
  return withoutUnknown(tableOf(standing.entries, columns, toneOf))
}

function ratioColumns(
  metric: MainMetric,
  [value, ends]: readonly [number, number],
  baseline: string,
  { races }: Standing,
): EntryColumn[] {
  const isBaseline = ({ spec }: StandingEntry) => spec.id === races[metric]?.baseline
  const textOf = (entry: StandingEntry, format: (ratio: Interval) => string) => {
    const ratio = entry.places[metric]?.ratio ?? null
    return ratio === null ? '' : format(ratio)
  }
  return [
    right(`${metric === 'rate' ? '' : 'CPU '}× ${baseline}`, value, (entry) => {
      if (metric === 'rate' && entry.figures.void !== null) return 'void'
      return isBaseline(entry) ? '1' : textOf(entry, ({ value }) => formatRatio(value))
    }),
    right('95 %', ends, (entry) =>
      isBaseline(entry) ? '' : textOf(entry, (ratio) => formatEnds(ratio, formatRatio)),
    ),
  ]
}

/** Of the rate, or of CPU time per request: the value and its interval. */
function valueColumns(metric: MainMetric, [value, ends]: readonly [number, number]): EntryColumn[] {
  const format = metric === 'rate' ? formatRate : formatMicros
  const formatInterval = (interval: Interval) =>
    metric === 'rate' ? formatRateEnds(interval) : formatEnds(interval, formatMicros)
  return [
    counted(metric === 'rate' ? 'req/s' : 'CPU µs', value, ({ figures }) =>
      orUnknown(figures[metric]?.value, format),
    ),
    counted('95 %', ends, ({ figures: { [metric]: interval } }) =>
      interval === undefined ? '' : formatInterval(interval),
    ),
  ]
}

/** What only a page or a wide terminal has room for, except memory. */
const PARTS: readonly EntryColumn[] = [
  counted('peak MB', 3, ({ peakMemory }) => formatParts(peakMemory, formatMegabytes)),
  counted('app+proxy µs', 6, ({ cpu }) => formatParts(cpu, formatMicros)),
  counted('generator µs', 6, ({ cpu }) => orUnknown(cpu.generator, formatMicros)),
  right('core', 7, ({ figures }) => orUnknown(figures.coreUse, formatPercent)),
  right('launches', 8, ({ figures }) => String(figures.launches)),
  right('slices', 8, ({ figures }) => String(figures.slices)),
  right('disturbed', 9, ({ figures }) => String(figures.disturbed)),
]

/** Blank for a voided cell. */
function counted(heading: string, priority: number, text: (figures: CellFigures) => string): EntryColumn {
  return right(heading, priority, ({ figures }) => (figures.void === null ? text(figures) : ''))
}

/** What NGINX in front costs each app. */
function proxySection(result: Result): Section[] {
  const costs = result.analysis?.proxyCosts ?? []
  if (costs.length === 0) return []
  const groups = [...Map.groupBy(costs, ({ app, topology }) => `${app} ${topology}`).values()]
  const find = (group: readonly ProxyCost[], metric: MainMetric) =>
    group.find((cost) => cost.metric === metric)?.ratio
  const columnsOf = (metric: MainMetric) => [
    right<ProxyCost[]>(`${METRIC_NAMES[metric]} ×`, 0, (group) =>
      orUnknown(find(group, metric)?.value, formatRatio),
    ),
    right<ProxyCost[]>('95 %', 0, (group) => formatEnds(find(group, metric) ?? null, formatRatio)),
  ]
  const table = tableOf(groups, [
    left('app', 0, ([cost]) => cost?.app ?? ''),
    left('via', 0, ([cost]) => cost?.topology ?? ''),
    ...columnsOf('rate'),
    ...columnsOf('cpu'),
  ])
  return [
    {
      title: 'What NGINX costs each app: behind it over direct',
      table: withoutUnknown(table),
      notes: [],
      place: 'folded',
    },
  ]
}

/** Each pair of a race once, as it was tested. */
function pairSections(result: Result): Section[] {
  const races = standingsOf(result).flatMap(({ races }) => races.rate ?? [])
  const pairs = races.flatMap((race) => race.pairs.map((pair) => ({ ...pair, race })))
  if (pairs.length === 0) return []
  const table = tableOf(pairs, [
    left('pair', 0, ({ a, b }) => `${shortName(a, result)} over ${shortName(b, result)}`),
    left('race', 0, ({ race: { race, topology } }) => `${race} ${topology}`),
    right('ratio', 0, ({ ratio }) => formatRatio(ratio.value)),
    right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
    right('p', 0, ({ p }) => orUnknown(p, formatP)),
    right('p after Holm', 0, ({ pAdjusted }) => orUnknown(pAdjusted, formatP)),
    left('verdict', 0, (pair) => {
      if (!isShown(pair)) return 'no difference shown'
      return pair.ratio.value > 1 ? 'faster' : 'slower'
    }),
  ])
  return [{ title: 'Who beats whom: every pair', table, notes: [], place: 'page' }]
}

/** A probability: `0.021`, `< 0.001`. */
function formatP(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3)
}

/** What a race found where there is nothing to find, and what it could have found. */
function controlSection(result: Result): Section[] {
  const races = (result.analysis?.races ?? []).flatMap(({ control, ...race }) =>
    control === null ? [] : [{ ...race, ...control, race: `${race.race} ${race.topology}` }],
  )
  if (races.length === 0) return []
  const table = tableOf<(typeof races)[number]>(
    races,
    [
      left('race', 0, ({ race }) => race),
      left('metric', 0, ({ metric }) => METRIC_NAMES[metric]),
      left('twin', 0, ({ twin }) => shortName(twin, result)),
      right('× original', 0, ({ ratio }) => ratio.value.toFixed(3)),
      right('95 %', 0, ({ ratio }) => formatEnds(ratio, (value) => value.toFixed(3))),
      right('p', 0, ({ p }) => orUnknown(p, formatP)),
      left('verdict', 0, verdictOf),
      right('smallest effect', 0, ({ smallestEffect }) => orUnknown(smallestEffect?.single, formatEffect)),
      right('with all pairs', 0, ({ smallestEffect }) => orUnknown(smallestEffect?.adjusted, formatEffect)),
      right('launches vary', 0, ({ launchSpread }) => orUnknown(launchSpread, formatPercent)),
    ],
    ({ suspect }) => (suspect ? 'void' : 'plain'),
  )
  return [{ title: 'A/A control: the same app under two names', table, notes: [], place: 'folded' }]
}

function verdictOf({ p, suspect }: Control): string {
  if (suspect) return 'suspect: a difference where none exists'
  if (p === null) return 'one launch says nothing'
  return p < SIGNIFICANT ? 'barely excludes 1, as about 1 in 20 does' : 'no difference, as it should be'
}
