import { painter } from '@startgrid/cli/paint.ts'
import { wrap } from '@startgrid/cli/text.ts'
import type { Chart, Dot, Panel } from './document.ts'
import { type Scale, scaleOf } from './scale.ts'

/** A chart as text: a line per name, panels side by side as far as they fit. */

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
  const names = Math.min(LONGEST_NAME, widest(dots.map(({ name }) => name)))
  const values = widest(dots.map(({ value }) => axis.format(value)))
  const least = names + 1 + NARROWEST_PLOT + 1 + values
  const beside = Math.max(1, Math.min(wanted, Math.floor((columns + GAP) / (least + GAP))))
  const plot = Math.min(WIDEST_PLOT, Math.floor((columns + GAP) / beside) - GAP - least + NARROWEST_PLOT)
  const scale = scaleOf(chart)
  const blocks = panels.map((panel) => [
    panel.title.slice(0, least + plot - NARROWEST_PLOT),
    ...linesOf(panel).map(([name, own]) => {
      const { value } = own.at(-1) as Dot
      const shown = drawLine(own, { scale, isLog: axis.scale === 'log', mark, cells: plot })
      return `${name.slice(0, names).padEnd(names)} ${shown} ${axis.format(value).padStart(values)}`
    }),
  ])
  const rows = Array.from({ length: Math.ceil(blocks.length / beside) }, (_, row) =>
    joinBeside(blocks.slice(row * beside, (row + 1) * beside), names + plot + values + 2),
  )
  return [paint('dim', wrap(title, '', columns)), ...rows].join('\n')
}

function linesOf({ dots }: Panel): [name: string, dots: Dot[]][] {
  return [...Map.groupBy(dots, ({ name }) => name)]
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

/** `  ├──●──┤ `: dots on their intervals; an arrow points to what is beyond the axis. */
function drawLine(dots: readonly Dot[], { scale, isLog, mark, cells }: Plot): string {
  const [low, high] = scale.domain
  const place = (value: number) => {
    const part = isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)
    return Math.min(cells - 1, Math.max(0, Math.round(part * (cells - 1))))
  }
  const line = Array.from({ length: cells }, () => ' ')
  if (mark !== undefined) line[place(mark)] = '┊'
  const isOutside = ({ value }: Dot) => value < low || value > high
  for (const dot of dots)
    if (dot.low !== null && dot.high !== null && !isOutside(dot))
      line.fill('─', place(Math.max(low, dot.low)), place(dot.high) + 1)
  for (const dot of dots)
    line[place(dot.value)] = isOutside(dot) ? (dot.value < low ? '◂' : '▸') : dot.leads ? '●' : '○'
  return line.join('')
}
