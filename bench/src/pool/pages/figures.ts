import { formatMs, formatRate, formatRatio, formatRatioInterval, orUnknown } from '@startgrid/cli/numbers.ts'
import { layOut, left, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { COLUMNS, plural, wrap } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { DISTURBED, describeDisturbance } from '../disturbance.ts'
import { overLaunches } from '../interval.ts'
import type { PageResult, PageSettings, WayResult } from './measure.ts'

export interface PageFigures {
  settings: PageSettings
  launches: PageResult[]
  ratios: PageRatios
}

/** In the pool over in process. */
export interface PageRatios {
  /** Pages per second. */
  capacity: Interval
  /** What a small request waits, at p99. */
  local: Interval
}

export function pageRatios(launches: readonly PageResult[]): PageRatios {
  const ratio = (figure: (way: WayResult) => number) =>
    overLaunches(launches.map(({ pooled, inProcess }) => figure(pooled) / figure(inProcess)))
  return { capacity: ratio(({ capacity }) => capacity), local: ratio(({ local }) => local.p99) }
}

/** Sentences and a table for a terminal. */
export function formatPageFigures({ settings, launches, ratios }: PageFigures): string {
  const [table] = layOut([wayTable(launches)], COLUMNS)
  const { framework, library, size, items } = settings
  const foreign = Math.max(
    ...launches.flatMap(({ inProcess, pooled }) => [inProcess.foreign ?? 0, pooled.foreign ?? 0]),
  )
  return [
    wrap(
      `Pages of ${plural(items, 'item')} in ${framework}: in its own process, and in ${plural(size, 'worker')} of ${library}. ` +
        'Latencies in ms at p99, at half of what the process alone can do.',
    ),
    '',
    `  ${table?.head}`,
    ...(table?.rows ?? []).map(({ text }) => `  ${text}`),
    '',
    wrap(
      `In the pool: ${formatRatioInterval(ratios.capacity)} times the pages per second, and small requests wait ` +
        `${formatRatioInterval(ratios.local, formatRatio)} times as long at p99.`,
    ),
    ...(foreign > DISTURBED ? [wrap(describeDisturbance(foreign))] : []),
    '',
  ].join('\n')
}

function wayTable(launches: readonly PageResult[]): Table {
  const ways = launches.flatMap(({ inProcess, pooled }, index) => [
    { launch: String(index + 1), name: 'in process', way: inProcess },
    { launch: '', name: 'in the pool', way: pooled },
  ])
  return tableOf(ways, [
    right('launch', 0, ({ launch }) => launch),
    left('pages are made', 0, ({ name }) => name),
    right('pages/s', 0, ({ way }) => formatRate(way.capacity)),
    right('CPU ms', 0, ({ way }) => orUnknown(way.cpuPerPage, (seconds) => formatMs(seconds * 1000))),
    right('page', 0, ({ way }) => formatMs(way.page.p99)),
    right('/local', 0, ({ way }) => formatMs(way.local.p99)),
    right('event loop', 0, ({ way }) => formatMs(way.eventLoop.p99)),
    right('client', 0, ({ way }) => formatMs(way.lag)),
  ])
}
