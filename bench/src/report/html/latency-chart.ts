import * as Plot from '@observablehq/plot'
import { formatMs, formatRate } from '@startgrid/cli/numbers.ts'
import type { LatencyFigures, LatencyLevel } from '../../model/figures.ts'
import { nameOf } from '../../model/names.ts'
import type { CellSpec } from '../../model/result.ts'
import type { Measured } from '../openloop-table.ts'
import { chart } from './chart.ts'
import type { Markup } from './markup.ts'
import { seriesOf } from './series.ts'

interface Curve {
  spec: CellSpec
  level: LatencyLevel
}

/**
 * Latency by percentile, one chart per level of load. The axis of percentiles is that of HdrHistogram: logarithmic in 1/(1 − p), so that the
 * tail has as much room as the rest.
 */
export function latencyCharts(cells: readonly Measured<LatencyFigures>[]): Markup[] {
  const curves = cells
    .filter(({ figures }) => figures.voidedBecause === null)
    .flatMap(({ spec, figures }) => figures.levels.map((level) => ({ spec, level })))
    .filter(({ level }) => level.voidedBecause === null && level.curve.length > 1)
  const all = curves.flatMap(({ level }) => level.curve.map(({ ms }) => ms))
  const domain: [number, number] = [Math.min(...all) * 0.9, Math.max(...all) * 1.1]
  return [...Map.groupBy(curves, ({ level }) => level.level)].map(([level, group]) =>
    levelChart(level, group, domain),
  )
}

function levelChart(level: string, curves: readonly Curve[], domain: [number, number]): Markup {
  const farthest = Math.max(...curves.flatMap(({ level }) => level.curve.filter(isInside).map(beyond)))
  return chart({
    title: level === 'common' ? commonTitle(curves) : `At ${level} of each app’s own capacity`,
    description: `Latency by percentile. ${curves.map(describe).join('; ')}`,
    plot: {
      height: 270,
      marginRight: 58,
      x: {
        type: 'log',
        domain: [1, Math.max(10, farthest)],
        label: 'percentile',
        labelAnchor: 'center',
        labelArrow: 'none',
        ticks: [1, 10, 100, 1000, 10_000, 100_000].filter((tick) => tick <= Math.max(10, farthest) * 1.01),
        tickFormat: percentileText,
        grid: true,
      },
      y: {
        type: 'log',
        domain,
        label: 'ms',
        labelArrow: 'none',
        ticks: roundTicks(domain),
        tickFormat: String,
        grid: true,
      },
      marks: [...curves.flatMap(curveMarks), ...endLabels(curves, domain)],
    },
  })
}

function commonTitle(curves: readonly Curve[]): string {
  return `At ${formatRate(curves[0]?.level.offered ?? 0)} req/s for all`
}

type Point = LatencyLevel['curve'][number]

/** The highest value, at 100 %, is beyond any end of this axis. */
function isInside({ percentile }: Point): boolean {
  return percentile < 100
}

/** One in how many responses is slower. */
function beyond({ percentile }: Point): number {
  return 1 / (1 - percentile / 100)
}

function percentileText(oneIn: number): string {
  return oneIn === 1 ? '0' : String(Number((100 * (1 - 1 / oneIn)).toFixed(6)))
}

/** For a logarithmic axis: 1, 2 and 5 of every power of ten inside; only the powers if that is many. */
export function roundTicks([low, high]: readonly [number, number]): number[] {
  const steps = high / low > 200 ? [1] : [1, 2, 5]
  const powers = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4))
  return powers
    .flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))))
    .filter((tick) => tick >= low && tick <= high)
}

function curveMarks({ spec, level }: Curve): Plot.Markish[] {
  const { color, dash } = seriesOf(spec.framework)
  return [
    Plot.line(level.curve.filter(isInside), {
      x: beyond,
      y: 'ms',
      stroke: color,
      strokeDasharray: dash,
      strokeWidth: 2,
    }),
  ]
}

/** Names at the ends of the curves, moved apart where they would cover each other. */
function endLabels(curves: readonly Curve[], [low, high]: readonly [number, number]): Plot.Markish[] {
  const span = Math.log(high / low)
  const ends = curves
    .flatMap(({ spec, level }) => {
      const last = level.curve.filter(isInside).at(-1)
      return last === undefined ? [] : [{ spec, at: Math.log(last.ms) }]
    })
    .toSorted((a, b) => a.at - b.at)
  const places = spread(
    ends.map(({ at }) => at),
    span * 0.05,
    Math.log(high),
  )
  return ends.map(({ spec }, index) =>
    Plot.text([spec], {
      y: [Math.exp(places[index] ?? 0)],
      frameAnchor: 'right',
      textAnchor: 'start',
      dx: 5,
      text: [nameOf(spec)],
      fill: seriesOf(spec.framework).color,
      fontWeight: 'bold',
    }),
  )
}

/** Moves sorted places apart, upwards first and back from the end. */
function spread(places: readonly number[], least: number, end: number): number[] {
  const moved = [...places]
  for (let index = 1; index < moved.length; index++) {
    moved[index] = Math.max(moved[index] ?? 0, (moved[index - 1] ?? 0) + least)
  }
  for (let index = moved.length - 1; index >= 0; index--) {
    moved[index] = Math.min(moved[index] ?? 0, (moved[index + 1] ?? end + least) - least)
  }
  return moved
}

function describe({ spec, level }: Curve): string {
  const found = level.percentiles.flatMap(({ percentile, ms }) =>
    ms === null ? [] : [`p${percentile} ${formatMs(ms)} ms`],
  )
  return `${nameOf(spec)} at ${formatRate(level.offered)} req/s: ${found.join(', ')}`
}
