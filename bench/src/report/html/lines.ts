import * as Plot from '@observablehq/plot'
import type { Axis, Line, LineChart } from '../document.ts'
import { draw, roundTicks } from './drawing.ts'
import type { Markup } from './markup.ts'

const HEIGHT = 230

/** Lines over one pair of axes, with their names at their ends. */
export function drawLines({ title, x, y, lines, band }: LineChart): Markup {
  const points = lines.flatMap((line) => line.points)
  const isNamed = lines.length > 1
  const values = points.map((point) => point.y)
  const domain: [number, number] | undefined =
    y.scale === 'log' ? [Math.min(...values) * 0.9, Math.max(...values) * 1.1] : undefined
  return draw({
    title,
    description: `${y.label} over ${x.label}: ${lines.map((line) => describe(line, x, y)).join(', ')}`,
    plot: {
      height: HEIGHT,
      marginRight: isNamed ? 66 : 12,
      inset: 4,
      x: {
        ...axisOf(
          x,
          points.map((point) => point.x),
        ),
        labelAnchor: 'center',
      },
      y: { ...axisOf(y, values), ...(domain === undefined ? { zero: true } : { domain }), grid: true },
      marks: [
        ...(band === undefined ? [] : bandMarks(band)),
        ...lines.flatMap(lineMarks),
        ...(isNamed ? endLabels(lines, domain ?? [0, Math.max(...values)], y.scale) : []),
      ],
    },
  })
}

function describe({ name, points }: Line, x: Axis, y: Axis): string {
  const last = points.at(-1)
  return last === undefined ? name : `${name} ${y.format(last.y)} at ${x.format(last.x)}`
}

function axisOf({ label, scale, format }: Axis, values: readonly number[]): Plot.ScaleOptions {
  const ends = [Math.min(...values), Math.max(...values)] as const
  const ticks = scale === 'log' ? roundTicks(ends) : 5
  return { type: scale, label, labelArrow: 'none', tickFormat: format, ticks }
}

function lineMarks({ points, leads, drawn }: Line): Plot.Markish[] {
  const color = leads ? 'var(--accent)' : 'var(--dot)'
  const at = { x: 'x', y: 'y' } as const
  const [kept, off] = [points.filter(({ isOff }) => !isOff), points.filter(({ isOff }) => isOff)]
  return [
    ...(drawn === 'dots'
      ? []
      : [Plot.line(points, { ...at, stroke: color, strokeWidth: leads ? 2.5 : 1.5 })]),
    ...(drawn === 'line' ? [] : [Plot.dot(kept, { ...at, r: 3, fill: color })]),
    Plot.dot(off, { ...at, r: 3.5, symbol: 'times', stroke: 'var(--bad)', strokeWidth: 2 }),
  ]
}

function bandMarks({ value, low, high }: NonNullable<LineChart['band']>): Plot.Markish[] {
  const ends = { y1: low ?? value, y2: high ?? value }
  return [
    Plot.rect([ends], { ...ends, fill: 'var(--accent)', fillOpacity: 0.2 }),
    Plot.ruleY([value], { stroke: 'var(--accent)', strokeWidth: 1.5 }),
  ]
}

/** Names at the ends of the lines, moved apart where they would cover each other. */
function endLabels(
  lines: readonly Line[],
  [low, high]: readonly [number, number],
  scale: Axis['scale'],
): Plot.Markish[] {
  const [to, from] = scale === 'log' ? [Math.log, Math.exp] : [Number, Number]
  const span = to(high) - to(low)
  const named = lines.filter(({ name }, index) => lines.findIndex((one) => one.name === name) === index)
  const ends = named
    .flatMap(({ name, leads, points }) => {
      const last = points.at(-1)
      return last === undefined ? [] : [{ name, leads, at: to(last.y) }]
    })
    .toSorted((a, b) => a.at - b.at)
  const places = spread(
    ends.map(({ at }) => at),
    span * 0.06,
    to(high),
  )
  return ends.map(({ name, leads }, index) =>
    Plot.text([name], {
      y: [from(places[index] ?? 0)],
      frameAnchor: 'right',
      textAnchor: 'start',
      dx: 8,
      fill: leads ? 'var(--accent)' : 'currentColor',
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
