import { type Interval, rowMean } from '@startgrid/stats/estimate.ts'
import type { Cell } from '../../model/cell.ts'
import type { CellFigures, MainMetric } from '../../model/figures.ts'
import type { Heat } from '../../model/heat.ts'
import type { RaceLayout } from './race.ts'
import type { JudgedCell, LaunchTotals } from './record.ts'
import { meanOf, serverSeconds } from './slices.ts'

/** Those of a voided cell are null. @param layouts of all roles, in both metrics */
export function figuresOf(
  { record, void: reason }: JudgedCell,
  heats: readonly Heat[],
  layouts: readonly RaceLayout[],
): CellFigures {
  const { cell } = record
  const isVoid = reason !== null
  const slices = record.slices.flat()
  const counted = record.counted.flat()
  const launches = isVoid ? [] : record.launches.filter((totals) => totals !== null)
  return {
    cell: cell.id,
    launches: record.launches.filter((totals) => totals !== null).length,
    slices: counted.length,
    disturbed: slices.filter(({ phase, disturbed }) => phase === 'measure' && disturbed).length,
    rate: isVoid ? null : geometricMeanOf(cell, 'rate', layouts),
    cpu: isVoid ? null : geometricMeanOf(cell, 'cpu', layouts),
    cpuParts: {
      app: partOf(launches, 'app'),
      proxy: cell.topology === 'direct' ? null : partOf(launches, 'proxy'),
      generator: partOf(launches, 'generator'),
    },
    coreUse: coreUse(cell, launches),
    peakMemory: isVoid ? { app: null, proxy: null } : peakMemory(cell, heats),
    void: reason,
  }
}

function geometricMeanOf(cell: Cell, metric: MainMetric, layouts: readonly RaceLayout[]): Interval | null {
  for (const layout of layouts) {
    const row =
      layout.metric === metric ? layout.records.findIndex((record) => record.cell.id === cell.id) : -1
    if (row >= 0) return rowMean(layout, row)
  }
  return null
}

/** Seconds per request, mean over launches. */
function partOf(launches: readonly LaunchTotals[], part: keyof LaunchTotals['cpuSeconds']): number | null {
  const each = launches.map(({ cpuSeconds: { [part]: seconds }, requests }) =>
    requests === 0 ? null : seconds && seconds / requests,
  )
  return meanOf(each)
}

function coreUse(cell: Cell, launches: readonly LaunchTotals[]): number | null {
  return meanOf(
    launches.map(({ cpuSeconds, seconds }) => {
      const used = serverSeconds(cell, cpuSeconds)
      return used && used / seconds
    }),
  )
}

function peakMemory(cell: Cell, heats: readonly Heat[]): CellFigures['peakMemory'] {
  const own = heats.filter(({ race }) => race === cell.race).flatMap(({ launches }) => launches)
  const highest = (name: string): number | null => {
    const peaks = own.flatMap(({ app, peakMemory }) =>
      app === name && peakMemory !== null ? peakMemory : [],
    )
    return peaks.length === 0 ? null : Math.max(...peaks)
  }
  return { app: highest(cell.app), proxy: cell.topology === 'direct' ? null : highest('nginx') }
}
