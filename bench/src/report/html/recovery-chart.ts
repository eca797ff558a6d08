import * as Plot from '@observablehq/plot'
import { formatMs } from '@startgrid/cli/numbers.ts'
import { type Episode, episodesOf } from '../../judge/openloop/recovery.ts'
import { nameOf } from '../../model/names.ts'
import type { CellSpec, OverloadResult } from '../../model/result.ts'
import { chart, type Race } from './chart.ts'
import { roundTicks } from './latency-chart.ts'
import type { Markup } from './markup.ts'
import { seriesOf } from './series.ts'

interface Trace {
  spec: CellSpec
  points: { at: number; p99: number }[]
}

/** p99 after the overload, at half the capacity: one line per launch. */
export function recoveryChart(
  { trials, settings }: OverloadResult,
  cells: readonly CellSpec[],
  race: Race,
): Markup | null {
  const traces = cells
    .flatMap((spec) =>
      episodesOf(trials.filter(({ cell }) => cell === spec.id)).map((episode) => ({
        spec,
        points: pointsOf(episode, settings.sliceMs),
      })),
    )
    .filter(({ points }) => points.length > 0)
  if (traces.length === 0) return null
  const all = traces.flatMap(({ points }) => points.map(({ p99 }) => p99))
  return chart({
    title: 'p99 after the overload, ms',
    description: `Of each app at the end of what was measured: ${traces.map(describe).join(', ')}`,
    race,
    plot: {
      height: 200,
      x: {
        label: 'seconds since the last request of the overload',
        labelAnchor: 'center',
        labelArrow: 'none',
      },
      y: {
        type: 'log',
        label: 'ms',
        labelArrow: 'none',
        ticks: roundTicks([Math.min(...all), Math.max(...all)]),
        tickFormat: String,
        grid: true,
      },
      marks: traces.map(({ spec, points }) => {
        const { color, dash } = seriesOf(spec.framework)
        return Plot.line(points, {
          x: 'at',
          y: 'p99',
          stroke: color,
          strokeDasharray: dash,
          strokeWidth: 1.5,
        })
      }),
    },
  })
}

/** Times count as in `recoveredAfter`: draining is part of it, the moments between two loads are not. */
function pointsOf({ overload, recovery }: Episode, overloadMs: number): Trace['points'] {
  let begin = Math.max(0, overload.seconds - overloadMs / 1000)
  return recovery.flatMap((trial) => {
    const since = begin
    begin += trial.seconds
    return (trial.series ?? [])
      .filter(({ requests, p99 }) => requests > 0 && p99 > 0)
      .map(({ at, seconds, p99 }) => ({ at: since + at + seconds, p99 }))
  })
}

function describe({ spec, points }: Trace): string {
  const last = points.at(-1)
  return last === undefined
    ? nameOf(spec)
    : `${nameOf(spec)} ${formatMs(last.p99)} ms after ${last.at.toFixed(1)} s`
}
