import { painter, wrap } from '@startgrid/cli/text.ts'
import type { Chart, Dot } from './document.ts'
import { type Scale, scaleOf } from './scale.ts'

/** A chart as text: a line per name, panels side by side as far as they fit. */

/** At 80 columns; names get what is wider. */
const LONGEST_NAME = 24
const NARROWEST_PLOT = 10
const WIDEST_PLOT = 40
const GAP = 3

/** @param columns no line is longer */
export function chartLines(chart: Chart, { columns, color }: { columns: number; color: boolean }): string {
  const { title, panels, axis, mark, columns: wanted } = chart
  const paint = painter(color)
  const dots = panels.flatMap((panel) => panel.dots)
  const widest = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length))
  const names = Math.min(
    Math.max(LONGEST_NAME, LONGEST_NAME + columns - 80),
    widest(dots.map(({ name }) => name)),
  )
  const values = widest(dots.map(({ value }) => axis.format(value)))
  const least = names + 1 + NARROWEST_PLOT + 1 + values
  const broadest = Math.max(least, widest(panels.map((panel) => panel.title)))
  const beside = Math.max(1, Math.min(wanted, Math.floor((columns + GAP) / (broadest + GAP))))
  const plot = Math.min(WIDEST_PLOT, Math.floor((columns + GAP) / beside) - GAP - least + NARROWEST_PLOT)
  const scale = scaleOf(chart)
  const blocks = panels.map((panel) => [
    ...wrap(panel.title, '   ', columns).split('\n'),
    ...panel.dots.map((dot) => {
      const shown = drawLine(dot, { scale, isLog: axis.scale === 'log', mark, cells: plot })
      return `${dot.name.slice(0, names).padEnd(names)} ${shown} ${axis.format(dot.value).padStart(values)}`
    }),
  ])
  const rows = Array.from({ length: Math.ceil(blocks.length / beside) }, (_, row) =>
    joinBeside(blocks.slice(row * beside, (row + 1) * beside), names + plot + values + 2),
  )
  return [paint('dim', wrap(title, '', columns)), ...rows].join('\n')
}

function joinBeside(blocks: readonly (readonly string[])[], width: number): string {
  const height = Math.max(...blocks.map(({ length }) => length))
  return Array.from({ length: height }, (_, index) =>
    blocks
      .map((block) => (block[index] ?? '').padEnd(width))
      .join(' '.repeat(GAP))
      .trimEnd(),
  ).join('\n')
}

interface Plot {
  scale: Scale
  isLog: boolean
  mark: number | undefined
  cells: number
}

/** `  ──●── `: a dot on its interval; an arrow points to one that is beyond the axis. */
function drawLine(dot: Dot, { scale, isLog, mark, cells }: Plot): string {
  const [least, most] = scale.domain
  const place = (value: number) => {
    const part = isLog ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least)
    return Math.min(cells - 1, Math.max(0, Math.round(part * (cells - 1))))
  }
  const line = Array.from({ length: cells }, () => ' ')
  if (mark !== undefined) line[place(mark)] = '┊'
  const { value, low, high, leads } = dot
  const arrow = value < least ? '◂' : value > most ? '▸' : undefined
  if (arrow === undefined && low !== null && high !== null)
    line.fill('─', place(Math.max(least, low)), place(high) + 1)
  line[place(value)] = arrow ?? (leads ? '●' : '○')
  return line.join('')
}
