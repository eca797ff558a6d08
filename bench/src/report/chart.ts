import { formatRatio } from '@startgrid/cli/numbers.ts'
import { painter, wrap } from '@startgrid/cli/text.ts'
import { median } from '@startgrid/stats/moments.ts'

/** What a chart shows, the axis of its panels, and the chart as text; html/charts.ts draws it. */

/** Values with their intervals, name by name, in panels that share an axis: in grey, with one accent for what leads. */
export interface Chart {
  title: string
  /** How to read it: sentences. */
  caption: string
  panels: readonly Panel[]
  /** Panels that stand side by side where there is room. */
  columns: number
  axis: Axis
  /** Where a line is drawn: 1 among ratios. */
  mark?: number
}

export interface Panel {
  title: string
  /** Best first. */
  dots: readonly Dot[]
}

export interface Dot {
  name: string
  value: number
  low: number | null
  high: number | null
  leads: boolean
}

interface Axis {
  label: string
  scale: 'linear' | 'log'
  format(value: number): string
}

/** Ratios with a line at 1, logarithmic. @returns undefined if there are none */
export function ratioChart({
  label = 'ratio',
  columns = 1,
  ...chart
}: Pick<Chart, 'title' | 'caption' | 'panels'> & { label?: string; columns?: number }): Chart | undefined {
  const panels = chart.panels.filter(({ dots }) => dots.length > 0)
  if (panels.length === 0) return undefined
  const axis = { label: `${label}, log scale`, scale: 'log', format: formatRatio } as const
  return { ...chart, panels, columns, axis, mark: 1 }
}

/** Both ends of the axis that the panels of a chart share, and the values that it names between them. */
export interface Scale {
  domain: [number, number]
  ticks: number[]
}

/** What is farther out than this factor beyond all others is not drawn, because it would make them look alike; its figure says more. */
const FARTHEST = 4

export function scaleOf({ panels, axis }: Chart): Scale {
  return axis.scale === 'log' ? ratioScale(panels) : linearScale(panels)
}

/** Around all dots but the farthest, with a round ratio every eighth of it or farther apart. */
function ratioScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const most = reach(dots.map(({ value }) => value))
  const least = 1 / reach(dots.map(({ value }) => 1 / value))
  const near = dots.filter(({ value }) => value >= least && value <= most)
  const low = Math.min(least, ...near.map(({ low }) => Math.max(least / FARTHEST, low ?? least))) * 0.97
  const high = Math.max(most, ...near.map(({ high }) => Math.min(FARTHEST * most, high ?? most))) * 1.03
  const apart = Math.log(high / low) / 8
  const ticks = ROUND_RATIOS.filter(
    (tick, index) =>
      tick > low &&
      tick < high &&
      ROUND_RATIOS.slice(0, index).every((other) => Math.abs(Math.log(tick / other)) > apart),
  )
  return { domain: [low, high], ticks }
}

/** Those that are wanted most come first. */
const ROUND_RATIOS = [1, 2, 0.5, 4, 0.25, 10, 0.1, 30, 0.03, 100, 0.01, 1.5, 0.7, 3, 0.8, 1.25, 0.9, 1.1]

/** The greatest ratio that is not farther beyond the next smaller one than `FARTHEST`; at least 1.25. */
function reach(values: readonly number[]): number {
  return values
    .toSorted((one, other) => one - other)
    .reduce((end, value) => (value > end * FARTHEST ? end : Math.max(end, value)), 1.25)
}

/** From 0, or from below it. One value that is far off would make all others look alike; an interval is cut only far beyond that. */
function linearScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const limit = FARTHEST * median(dots.map(({ value }) => Math.abs(value)))
  const near = dots.filter(({ value }) => Math.abs(value) <= limit)
  const least = Math.min(0, ...near.map(({ value, low }) => Math.max(-3 * limit, low ?? value)))
  const most = Math.max(
    Number.MIN_VALUE,
    ...near.map(({ value, high }) => Math.min(3 * limit, high ?? value)),
  )
  const rough = (most - least) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([10, 5, 2].find((factor) => rough / power >= factor / Math.SQRT2) ?? 1)
  const first = Math.ceil(least / step)
  const ticks = Array.from(
    { length: Math.floor(most / step) - first + 1 },
    (_, index) => (first + index) * step,
  )
  return { domain: [least, most], ticks }
}

/** Where a value stands on the axis, 0 to 1; what is beyond it stands at its end. */
export function partAlong(value: number, { axis }: Chart, { domain: [least, most] }: Scale): number {
  const along = (one: number) => (axis.scale === 'log' ? Math.log(one) : one)
  const inside = Math.min(most, Math.max(least, value))
  return (along(inside) - along(least)) / (along(most) - along(least))
}

/** Of a plot, in columns. A long name leaves as much as `WIDE` for it. */
const NARROWEST = 10
const WIDE = 20
const WIDEST = 40
const GAP = 3

/** A chart as text: a line per name, panels side by side as far as they fit. @param columns no line is longer */
export function chartLines(chart: Chart, { columns, color }: { columns: number; color: boolean }): string {
  const { title, panels, axis, columns: wanted } = chart
  const dots = panels.flatMap((panel) => panel.dots)
  const widest = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length))
  const values = widest(dots.map(({ value }) => axis.format(value)))
  const names = Math.min(widest(dots.map(({ name }) => name)), columns - WIDE - values - 2)
  const least = names + 1 + NARROWEST + 1 + values
  const broadest = Math.max(least, widest(panels.map((panel) => panel.title)))
  const beside = Math.max(1, Math.min(wanted, Math.floor((columns + GAP) / (broadest + GAP))))
  const plot = Math.min(WIDEST, Math.floor((columns + GAP) / beside) - GAP - least + NARROWEST)
  const scale = scaleOf(chart)
  const blocks = panels.map((panel) => [
    ...wrap(panel.title, '   ', columns).split('\n'),
    ...panel.dots.map((dot) => {
      const line = drawLine(dot, chart, scale, plot)
      return `${dot.name.slice(0, names).padEnd(names)} ${line} ${axis.format(dot.value).padStart(values)}`
    }),
  ])
  const rows = Array.from({ length: Math.ceil(blocks.length / beside) }, (_, row) =>
    joinBeside(blocks.slice(row * beside, (row + 1) * beside), names + plot + values + 2),
  )
  return [painter(color)('dim', wrap(title, '', columns)), ...rows].join('\n')
}

function joinBeside(blocks: readonly (readonly string[])[], width: number): string {
  const lines = Array.from({ length: Math.max(...blocks.map(({ length }) => length)) }, (_, index) =>
    blocks.map((block) => (block[index] ?? '').padEnd(width)).join(' '.repeat(GAP)),
  )
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** `  ──●── `: a dot on its interval; an arrow points to one that is beyond the axis. */
function drawLine({ value, low, high, leads }: Dot, chart: Chart, scale: Scale, columns: number): string {
  const [least, most] = scale.domain
  const place = (one: number) => Math.round(partAlong(one, chart, scale) * (columns - 1))
  const line = Array.from({ length: columns }, () => ' ')
  if (chart.mark !== undefined) line[place(chart.mark)] = '┊'
  const arrow = value < least ? '◂' : value > most ? '▸' : undefined
  if (arrow === undefined && low !== null && high !== null) line.fill('─', place(low), place(high) + 1)
  line[place(value)] = arrow ?? (leads ? '●' : '○')
  return line.join('')
}
