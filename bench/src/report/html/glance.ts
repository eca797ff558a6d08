import * as Plot from '@observablehq/plot'
import { formatRatio, formatRatioInterval } from '@startgrid/cli/numbers.ts'
import { type Standing, standingsOf } from '../../judge/standings.ts'
import { METRIC_NAMES, nameOf } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { shortName } from '../summary.ts'
import { chart, raceTitle } from './chart.ts'
import type { Markup } from './markup.ts'
import { seriesOf } from './series.ts'

/** Every race as one picture, all on one axis: each app over the baseline, best first. */
export function glance(result: RaceResult): Markup[] {
  const races = standingsOf(result).map((standing) => ({ standing, points: pointsOf(standing) }))
  const axis = axisOf(races.flatMap(({ points }) => points.filter(isNear)))
  return races
    .filter(({ points }) => points.length > 1)
    .map(({ standing, points }) => raceChart(standing, points, axis, result))
}

interface Point {
  name: string
  framework: string
  value: number
  low: number
  high: number
}

/** No app is drawn farther out than this; its figure stands at the edge. */
const FARTHEST = 4

function raceChart(standing: Standing, points: readonly Point[], axis: Axis, result: RaceResult): Markup {
  const { races, entries } = standing
  const baseline = shortName(races.rate?.baseline ?? '', result)
  const near = points.filter(isNear)
  return chart({
    title: raceTitle(standing),
    description: `${METRIC_NAMES.rate} over ${baseline}, best first: ${entries
      .flatMap(({ spec, places }) =>
        places.rate?.ratio ? `${nameOf(spec)} ${formatRatioInterval(places.rate.ratio)}` : [],
      )
      .join(', ')}`,
    race: standing,
    plot: {
      height: 40 + 21 * points.length,
      marginLeft: 84,
      marginRight: 40,
      x: {
        type: 'log',
        label: `${METRIC_NAMES.rate}, × ${baseline}`,
        labelAnchor: 'center',
        labelArrow: 'none',
        grid: true,
        // An interval may end far outside of the axis.
        clamp: true,
        ...axis,
      },
      y: { domain: points.map(({ name }) => name), label: null, tickSize: 0 },
      marks: [
        Plot.ruleX([1], { strokeOpacity: 0.6 }),
        ...near.flatMap(pointMarks),
        ...points.filter((point) => !isNear(point)).map(farMark),
      ],
    },
  })
}

function pointsOf({ entries }: Standing): Point[] {
  return entries.flatMap(({ spec, places }) => {
    const ratio = places.rate?.ratio ?? null
    if (ratio === null) return []
    const { value, low, high } = ratio
    return [{ name: nameOf(spec), framework: spec.framework, value, low: low ?? value, high: high ?? value }]
  })
}

function isNear({ value }: Point): boolean {
  return value <= FARTHEST && value >= 1 / FARTHEST
}

interface Axis {
  domain: [number, number]
  ticks: number[]
  tickFormat: (tick: number) => string
}

/** Around all points, with a round ratio every tenth of it or farther apart. */
function axisOf(points: readonly Point[]): Axis {
  const low = Math.min(0.8, ...points.map((point) => Math.max(1 / FARTHEST, point.low))) * 0.97
  const high = Math.max(1.25, ...points.map((point) => Math.min(FARTHEST, point.high))) * 1.03
  const ticks = [1, 2, 0.5, 4, 0.25, 1.5, 0.7, 3, 0.8, 1.25, 0.9, 1.1]
  const least = Math.log(high / low) / 10
  const apart = ticks.filter(
    (tick, index) =>
      tick > low &&
      tick < high &&
      ticks.slice(0, index).every((other) => Math.abs(Math.log(tick / other)) > least),
  )
  return { domain: [low, high], ticks: apart, tickFormat: String }
}

function pointMarks(point: Point): Plot.Markish[] {
  const { color } = seriesOf(point.framework)
  return [
    Plot.ruleY([point], { x1: 'low', x2: 'high', y: 'name', stroke: color, strokeWidth: 2.5 }),
    Plot.dot([point], { x: 'value', y: 'name', fill: color, r: 4.5 }),
    Plot.text([point], {
      x: 'high',
      y: 'name',
      text: ({ value }: Point) => formatRatio(value),
      textAnchor: 'start',
      dx: 7,
      stroke: 'var(--paper)',
      strokeWidth: 4,
      fill: 'currentColor',
    }),
  ]
}

/** An arrow to where it would be. */
function farMark(point: Point): Plot.Markish {
  const isLow = point.value < 1
  return Plot.text([point], {
    y: 'name',
    frameAnchor: isLow ? 'left' : 'right',
    text: ({ value }: Point) => (isLow ? `◂ ${formatRatio(value)}` : `${formatRatio(value)} ▸`),
    fill: seriesOf(point.framework).color,
    fontWeight: 'bold',
  })
}
