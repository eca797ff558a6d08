import {
  formatEnds,
  formatMs,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatShort,
  orUnknown,
  UNKNOWN,
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
import { listOf, plural } from '@startgrid/cli/text.ts'
import { type Episode, episodesOf } from '../judge/openloop/overload-figures.ts'
import type { Cell } from '../model/cell.ts'
import type {
  CapacityFigures,
  LatencyFigures,
  LatencyLevel,
  LatencyPercentile,
  OverloadFigures,
} from '../model/figures.ts'
import { nameOf } from '../model/names.ts'
import { type OpenLoopResult, type OverloadResult, trialsOf } from '../model/result.ts'
import type { Dot, DotChart, Line, LineChart, Section } from './document.ts'

/** What an open-loop result says, and its tables: each of the cells of one role in one topology. */

interface Measured<Figures> {
  spec: Cell
  figures: Figures
}

export function openLoopSections(result: OpenLoopResult): Section[] {
  switch (result.kind) {
    case 'capacity':
      return [
        ...sectionsOf(result, result.analysis, capacityTable, `p99 at most ${result.settings.p99Ms} ms`),
        ...stepSections(measuredIn(result, result.analysis)),
      ]
    case 'latency':
      return sectionsOf(result, result.analysis, latencyTable, 'latency from the intended send time', {
        notesOf: withheldNotes,
        chartsOf: latencyCharts,
      })
    case 'overload':
      return sectionsOf(result, result.analysis, overloadTable, 'then twice the load on 1,000 or more', {
        chartsOf: (cells) => recoveryCharts(result, cells),
      })
  }
}

function measuredIn<Figures extends { cell: string }>(
  { cells }: OpenLoopResult,
  figures: readonly Figures[] | null,
): Measured<Figures>[] {
  return (figures ?? []).flatMap((one) => {
    const spec = cells.find(({ id }) => id === one.cell)
    return spec === undefined ? [] : [{ spec, figures: one }]
  })
}

/** By role and topology. */
function groupsOf<One extends { spec: Cell }>(cells: readonly One[]): [string, One[]][] {
  return [...Map.groupBy(cells, ({ spec: { role, topology } }) => `${role} ${topology}`)]
}

interface More<Figures> {
  notesOf?: (cells: readonly Measured<Figures>[]) => string[]
  chartsOf?: (cells: readonly Measured<Figures>[]) => LineChart[]
}

function sectionsOf<Figures extends { cell: string; voidedBecause: string | null }>(
  result: OpenLoopResult,
  figures: readonly Figures[] | null,
  makeTable: (cells: readonly Measured<Figures>[]) => Table,
  condition: string,
  { notesOf = () => [], chartsOf = () => [] }: More<Figures> = {},
): Section[] {
  return groupsOf(measuredIn(result, figures)).map(([name, group]) => ({
    title: `${name}: ${group[0]?.spec.workload}, ${group[0]?.spec.connections} connections, ${condition}`,
    table: makeTable(group),
    notes: [...group.flatMap(voidedNote), ...notesOf(group)],
    charts: chartsOf(group),
  }))
}

/** The first figure of each table: capacity, p99 at one rate for all, or goodput. */
export function openLoopChart(result: OpenLoopResult): DotChart | undefined {
  switch (result.kind) {
    case 'capacity':
      return chartOf(measuredIn(result, result.analysis), ({ rate }) => rate, {
        title: `The highest rate that keeps p99 within ${result.settings.p99Ms} ms`,
        axis: { label: 'req/s', scale: 'linear', format: formatShort },
        lowIsBetter: false,
      })
    case 'latency':
      return chartOf(measuredIn(result, result.analysis), ({ levels }) => p99Of(levels), {
        title: 'p99 under load: at one rate for all, or at 75 % of the capacity',
        axis: { label: 'ms, log scale', scale: 'log', format: formatMs },
        lowIsBetter: true,
      })
    case 'overload':
      return chartOf(measuredIn(result, result.analysis), (figures) => goodputOf(figures), {
        title: 'What an app still delivers of its capacity when twice of it is asked for',
        axis: { label: 'part of the capacity', scale: 'linear', format: formatPercent },
        lowIsBetter: false,
      })
  }
}

type Value = Pick<Dot, 'value' | 'low' | 'high'>

function p99Of(levels: readonly LatencyLevel[]): Value | null {
  const level = levels.find((one) => one.level === 'common') ?? levels.at(-1)
  const p99 = level && percentileIn(level, 99)
  return level?.voidedBecause !== null || p99?.ms == null ? null : { ...p99, value: p99.ms }
}

function percentileIn({ percentiles }: LatencyLevel, wanted: number): LatencyPercentile | undefined {
  return percentiles.find(({ percentile }) => percentile === wanted)
}

function goodputOf({ goodput, goodputShare }: OverloadFigures): Value | null {
  if (goodput === null || goodputShare === null) return null
  const part = (end: number | null) => end && (end / goodput.value) * goodputShare
  return { value: goodputShare, low: part(goodput.low), high: part(goodput.high) }
}

function chartOf<Figures extends { voidedBecause: string | null }>(
  cells: readonly Measured<Figures>[],
  read: (figures: Figures) => Value | null,
  { title, axis, lowIsBetter }: Pick<DotChart, 'title' | 'axis'> & { lowIsBetter: boolean },
): DotChart | undefined {
  const known = cells.flatMap(({ spec, figures }) => {
    const value = figures.voidedBecause === null ? read(figures) : null
    return value === null ? [] : [{ spec, ...value }]
  })
  const groups = groupsOf(known)
  if (groups.length === 0) return undefined
  const topologies = [...new Set(known.map(({ spec }) => spec.topology))]
  const rows = topologies.flatMap((topology) => groups.filter(([name]) => name.endsWith(` ${topology}`)))
  const panels = rows.map(([title, group]) => ({
    title,
    dots: group
      .toSorted((a, b) => (lowIsBetter ? a.value - b.value : b.value - a.value))
      .map(({ spec, value, low, high }, index) => ({
        ...{ name: nameOf(spec), value, low, high },
        leads: index === 0,
      })),
  }))
  const columns = new Set(known.map(({ spec }) => spec.role)).size
  return { kind: 'dots', title, caption: 'Best first, with 95 % intervals.', panels, columns, axis }
}

/**
 * Latency by percentile, one chart per level of load. The axis of percentiles is that of HdrHistogram: logarithmic in 1/(1 − p), so that
 * the tail has as much room as the rest.
 */
function latencyCharts(cells: readonly Measured<LatencyFigures>[]): LineChart[] {
  const curves = cells
    .filter(({ figures }) => figures.voidedBecause === null)
    .flatMap(({ spec, figures }) => figures.levels.map((level) => ({ spec, level })))
    .filter(({ level }) => level.voidedBecause === null && level.curve.length > 1)
  return [...Map.groupBy(curves, ({ level }) => level.level)].map(([level, group]) => ({
    kind: 'lines',
    title:
      level === 'common'
        ? `At ${formatRate(group[0]?.level.offered ?? 0)} req/s for all`
        : `At ${level} of each app’s own capacity`,
    x: { label: 'percentile', scale: 'log', format: percentileText },
    y: { label: 'ms', scale: 'log', format: formatMs },
    lines: group.map(({ spec, level: one }): Line => {
      // 100 %, the highest value, is beyond any end of this axis.
      const inside = one.curve.filter(({ percentile }) => percentile < 100)
      const points = inside.map(({ percentile, ms }) => ({ x: 1 / (1 - percentile / 100), y: ms }))
      const p99 = percentileIn(one, 99)?.ms ?? null
      const leads =
        p99 !== null && group.every(({ level: other }) => p99 <= (percentileIn(other, 99)?.ms ?? p99))
      return { name: nameOf(spec), leads, drawn: 'line', points }
    }),
  }))
}

function percentileText(oneIn: number): string {
  return oneIn === 1 ? '0' : String(Number((100 * (1 - 1 / oneIn)).toFixed(6)))
}

/** p99 after the overload, at half the capacity: a line per launch. */
function recoveryCharts(result: OverloadResult, cells: readonly Measured<OverloadFigures>[]): LineChart[] {
  const lines = cells.flatMap(({ spec }) =>
    episodesOf(trialsOf(result).filter(({ cell }) => cell === spec.id)).map(
      (episode): Line => ({
        ...{ name: nameOf(spec), leads: false, drawn: 'line' },
        points: pointsAfter(episode, result.settings.sliceMs),
      }),
    ),
  )
  const chart: LineChart = {
    kind: 'lines',
    title: 'p99 after the overload, a line per launch',
    x: { label: 'seconds since the last request of the overload', scale: 'linear', format: String },
    y: { label: 'ms', scale: 'log', format: formatMs },
    lines: lines.filter(({ points }) => points.length > 0),
  }
  return chart.lines.length === 0 ? [] : [chart]
}

/** Times count as in `recoveredAfter`: draining is part of it, the moments between two loads are not. */
function pointsAfter({ overload, recovery }: Episode, overloadMs: number): Line['points'] {
  let begin = Math.max(0, overload.seconds - overloadMs / 1000)
  return recovery.flatMap((trial) => {
    const since = begin
    begin += trial.seconds
    return (trial.series ?? [])
      .filter(({ requests, p99 }) => requests > 0 && p99 > 0)
      .map(({ at, seconds, p99 }) => ({ x: since + at + seconds, y: p99 }))
  })
}

/** The staircase of every cell: the rates that were tried, and which of them kept the bound. */
function stepSections(cells: readonly Measured<CapacityFigures>[]): Section[] {
  const steps = cells.flatMap(({ spec, figures }) => figures.steps.map((step) => ({ spec, step })))
  if (steps.length === 0) return []
  return [
    {
      title: 'Every step of the staircases',
      table: tableOf(steps, [
        left('app', 0, ({ spec }) => spec.id),
        right('launch', 0, ({ step }) => String(step.launch)),
        right('req/s', 0, ({ step }) => formatRate(step.rate)),
        right('p99 ms', 0, ({ step }) => orUnknown(step.p99Ms, formatMs)),
        left('bound', 0, ({ step }) => (step.kept ? 'kept' : (step.reason ?? 'broken'))),
      ]),
      charts: cells.filter(({ figures }) => figures.steps.length > 0).map(staircase),
      notes: [],
      place: 'page',
    },
  ]
}

function staircase({ spec, figures: { steps, rate } }: Measured<CapacityFigures>): LineChart {
  const points = steps.map((step, index) => ({ x: index + 1, y: step.rate, isOff: !step.kept }))
  return {
    kind: 'lines',
    title: spec.id,
    x: { label: 'step', scale: 'linear', format: String },
    y: { label: 'req/s', scale: 'linear', format: formatShort },
    lines: [{ name: nameOf(spec), leads: true, drawn: 'both', points }],
    ...(rate !== null && { band: rate }),
  }
}

function voidedNote({ spec, figures }: Measured<{ voidedBecause: string | null }>): string[] {
  return figures.voidedBecause === null ? [] : [`${nameOf(spec)} is void: ${figures.voidedBecause}.`]
}

/** Why percentiles are missing, each reason once; levels that are void as a whole apart. */
function withheldNotes(cells: readonly Measured<LatencyFigures>[]): string[] {
  const levels = cells.flatMap(({ spec, figures }) =>
    figures.levels.map((level) => ({ level, where: `${nameOf(spec)} at ${level.level}` })),
  )
  const voided = levels.flatMap(({ where, level: { voidedBecause } }) =>
    voidedBecause === null ? [] : [`${where} is void: ${voidedBecause}.`],
  )
  const sound = levels.filter(({ level }) => level.voidedBecause === null)
  const withheld = sound.flatMap(({ where, level }) =>
    level.percentiles.flatMap(({ percentile, withheld: reason }) =>
      reason === null ? [] : [{ reason, what: `p${percentile} of ${where}` }],
    ),
  )
  const reasons = [...Map.groupBy(withheld, ({ reason }) => reason)].map(([reason, group]) => {
    const names = group.map(({ what }) => what)
    return `Withheld (—), ${reason}: ${names.length > NAMED ? plural(names.length, 'percentile') : listOf(names)}.`
  })
  return [...voided, ...reasons]
}

/** More are counted: a short run withholds p99.99 everywhere. */
const NAMED = 3

/** Highest rate first. */
function capacityTable(cells: readonly Measured<CapacityFigures>[]): Table {
  const sorted = cells.toSorted((a, b) => (b.figures.rate?.value ?? 0) - (a.figures.rate?.value ?? 0))
  return tableOf<Measured<CapacityFigures>>(
    sorted,
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('capacity req/s', 0, (cell) => voidOr(cell, ({ rate }) => orUnknown(rate?.value, formatRate))),
      right('95 %', 0, ({ figures }) => (figures.rate === null ? '' : formatRateEnds(figures.rate))),
      right('confirmed', 1, ({ figures }) => `${figures.confirmed}/${figures.tried}`),
      right('closed loop', 1, ({ figures }) => orUnknown(figures.closedLoop, formatRate)),
      right('of closed loop', 2, ({ figures }) => orUnknown(shareOfClosedLoop(figures), formatPercent)),
      right('steps', 3, ({ figures }) => String(figures.steps.length)),
    ],
    toneOf,
  )
}

function shareOfClosedLoop({ rate, closedLoop }: CapacityFigures): number | null {
  return rate === null || closedLoop === null || closedLoop === 0 ? null : rate.value / closedLoop
}

interface LevelRow {
  spec: Cell
  figures: LatencyLevel
}

/** Level by level, so that apps under the same load stand together. */
function latencyTable(cells: readonly Measured<LatencyFigures>[]): Table {
  const rows = cells.flatMap(({ spec, figures }) =>
    figures.levels.map((level) => ({
      spec,
      figures: { ...level, voidedBecause: level.voidedBecause ?? figures.voidedBecause },
    })),
  )
  const levels = [...Map.groupBy(rows, ({ figures }) => figures.level).values()]
  return tableOf<LevelRow>(
    levels.flat(),
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('load', 0, ({ figures }) => figures.level),
      right('req/s', 0, (row) => voidOr(row, ({ offered }) => formatRate(offered))),
      percentileColumn(50, 0),
      percentileColumn(90, 2),
      percentileColumn(99, 0),
      right('95 %', 1, ({ figures }) => p99Ends(figures)),
      percentileColumn(99.9, 1),
      percentileColumn(99.99, 3),
      right('achieved', 4, ({ figures }) => formatRate(figures.achieved)),
      right('launches', 5, ({ figures }) => String(figures.launches)),
      right('responses', 5, ({ figures }) => figures.requests.toLocaleString('en-US')),
      right('lag p99', 4, ({ figures }) => orUnknown(figures.lagP99Ms, formatMs)),
    ],
    toneOf,
  )
}

function percentileColumn(percentile: number, priority: number): ItemColumn<LevelRow> {
  return right(`p${percentile} ms`, priority, ({ figures }) =>
    orUnknown(percentileIn(figures, percentile)?.ms, formatMs),
  )
}

function p99Ends(level: LatencyLevel): string {
  const { ms = null, ...ends } = percentileIn(level, 99) ?? { low: null, high: null }
  return ms === null ? '' : formatEnds({ value: ms, ...ends }, formatMs)
}

/** Best goodput first. */
function overloadTable(cells: readonly Measured<OverloadFigures>[]): Table {
  const sorted = cells.toSorted((a, b) => (b.figures.goodputShare ?? 0) - (a.figures.goodputShare ?? 0))
  const table = tableOf<Measured<OverloadFigures>>(
    sorted,
    [
      left('framework', 0, ({ spec }) => nameOf(spec)),
      right('capacity', 0, (cell) => voidOr(cell, ({ capacity }) => orUnknown(capacity, formatRate))),
      right('offered', 1, ({ figures }) => orUnknown(figures.offered, formatRate)),
      right('goodput', 0, ({ figures }) => orUnknown(figures.goodput?.value, formatRate)),
      right('95 %', 1, ({ figures }) => (figures.goodput === null ? '' : formatRateEnds(figures.goodput))),
      right('of capacity', 0, ({ figures }) => orUnknown(figures.goodputShare, formatPercent)),
      right('503 per s', 1, ({ figures: { refused } }) => orUnknown(refused || null, formatRate)),
      right('p99 ms', 0, ({ figures }) => orUnknown(figures.p99Ms, formatMs)),
      right('recovery s', 0, ({ figures }) =>
        orUnknown(figures.recoverySeconds, (seconds) => seconds.toFixed(1)),
      ),
      right('launches', 3, ({ figures }) => String(figures.launches)),
      left('errors', 2, ({ figures }) => errorsText(figures.errors)),
    ],
    toneOf,
  )
  return withoutUnknown(table)
}

function errorsText(errors: Readonly<Record<string, number>>): string {
  const counts = Object.entries(errors).filter(([, count]) => count > 0)
  if (counts.length === 0) return 'none'
  return counts.map(([kind, count]) => `${count.toLocaleString('en-US')} ${kind}`).join(', ')
}

function toneOf({ figures }: { figures: { voidedBecause: string | null } }): Row['tone'] {
  return figures.voidedBecause === null ? 'plain' : 'void'
}

function voidOr<Figures extends { voidedBecause: string | null }>(
  { figures }: { figures: Figures },
  text: (figures: Figures) => string,
): string {
  if (figures.voidedBecause === null) return text(figures)
  const kept = text(figures)
  return kept === UNKNOWN ? 'void' : `void ${kept}`
}

/** What an open-loop result says: a sentence per role and topology. */
export function summariseOpenLoop(result: OpenLoopResult): string[] {
  switch (result.kind) {
    case 'capacity':
      return describeGroups(result, result.analysis, (cells) => {
        const [best] = cells
          .flatMap(({ spec, figures: { rate } }) => (rate === null ? [] : [{ spec, rate: rate.value }]))
          .toSorted((a, b) => b.rate - a.rate)
        return (
          best &&
          `${nameOf(best.spec)} goes farthest: ${formatRate(best.rate)} req/s with p99 within ${result.settings.p99Ms} ms`
        )
      })
    case 'latency':
      return describeGroups(result, result.analysis, describeLatency)
    case 'overload':
      return describeGroups(result, result.analysis, (cells) => {
        const without = deliveredBy(cells.filter(({ spec }) => spec.sheds === undefined))
        const shedding = deliveredBy(cells.filter(({ spec }) => spec.sheds))
        const delivered = shedding ?? without
        const beside =
          shedding === undefined || without === undefined ? '' : `; if they refuse no page, ${without}`
        return delivered && `under twice their capacity, apps still deliver ${delivered}${beside}`
      })
  }
}

/** @param describe what is said of the cells that are not void; undefined for nothing */
function describeGroups<Figures extends { cell: string; voidedBecause: string | null }>(
  result: OpenLoopResult,
  figures: readonly Figures[] | null,
  describe: (cells: readonly Measured<Figures>[]) => string | undefined,
): string[] {
  const valid = measuredIn(result, figures).filter((one) => one.figures.voidedBecause === null)
  return groupsOf(valid).flatMap(([name, group]) => {
    const sentence = describe(group)
    return sentence === undefined ? [] : [`${name}: ${sentence}.`]
  })
}

/** What is left of the capacity, and how late it comes: `87 to 95 % of it with a p99 of 11.6 to 14.2 ms`. */
function deliveredBy(cells: readonly Measured<OverloadFigures>[]): string | undefined {
  const shares = cells.flatMap(({ figures }) => figures.goodputShare ?? [])
  if (shares.length === 0) return undefined
  const p99s = cells.flatMap(({ figures }) => figures.p99Ms ?? [])
  const late = p99s.length === 0 ? '' : ` with a p99 of ${rangeOf(p99s, formatMs)} ms`
  return `${rangeOf(shares, (share) => formatPercent(share).replace(' %', ''))} % of it${late}`
}

function rangeOf(values: readonly number[], format: (value: number) => string): string {
  const [low, high] = [format(Math.min(...values)), format(Math.max(...values))]
  return low === high ? low : `${low} to ${high}`
}

function describeLatency(cells: readonly Measured<LatencyFigures>[]): string | undefined {
  const sorted = cells
    .flatMap(({ spec, figures: { levels } }) => {
      const level = levels.find((one) => one.level === 'common' && one.voidedBecause === null)
      const ms = level && percentileIn(level, 99)?.ms
      return level === undefined || ms == null ? [] : [{ ms, name: nameOf(spec), offered: level.offered }]
    })
    .toSorted((a, b) => a.ms - b.ms)
  const [first, last] = [sorted[0], sorted.at(-1)]
  return (
    first &&
    last &&
    `at ${formatRate(first.offered)} req/s for all, p99 is from ${formatMs(first.ms)} ms (${first.name}) ` +
      `to ${formatMs(last.ms)} ms (${last.name})`
  )
}
