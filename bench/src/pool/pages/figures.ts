import { formatMs, formatRate, formatRatio, formatRatioInterval, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { layOut, type Row, type Table } from '@startgrid/cli/table.ts'
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
  const [table] = layOut([tableOf(launches)], COLUMNS)
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

function tableOf(launches: readonly PageResult[]): Table {
  const right = (heading: string) => ({ heading, align: 'right' as const, priority: 0 })
  return {
    columns: [
      right('launch'),
      { heading: 'pages are made', align: 'left', priority: 0 },
      right('pages/s'),
      right('CPU ms'),
      right('page'),
      right('/local'),
      right('event loop'),
      right('client'),
    ],
    rows: launches.flatMap(({ inProcess, pooled }, index) => [
      rowOf(String(index + 1), 'in process', inProcess),
      rowOf('', 'in the pool', pooled),
    ]),
  }
}

function rowOf(launch: string, name: string, way: WayResult): Row {
  return {
    tone: 'plain',
    cells: [
      launch,
      name,
      formatRate(way.capacity),
      way.cpuPerPage === null ? UNKNOWN : formatMs(way.cpuPerPage * 1000),
      formatMs(way.page.p99),
      formatMs(way.local.p99),
      formatMs(way.eventLoop.p99),
      formatMs(way.lag),
    ],
  }
}
