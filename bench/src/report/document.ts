import { formatRatio } from '@startgrid/cli/numbers.ts'
import type { Table } from '@startgrid/cli/table.ts'

/** What a result says. A terminal, Markdown and a page show it, and know nothing of races. */
export interface Document {
  /** What came out, in a sentence without its full stop: the headline. */
  finding: string
  /** What was measured, of what, and when. */
  subject: string
  /** What a reader must know before they believe it: sentences. */
  warnings: readonly string[]
  /** What shows the finding. */
  chart?: Chart
  /** What else came out, the most important first: sentences. */
  summary: readonly string[]
  /** The most important first. */
  sections: readonly Section[]
  /** What repeats it, for a shell. */
  command: string
}

/** What is said of the grid, a study or a race of commands; the rest of a document is the same for all. */
export interface Findings extends Pick<Document, 'finding' | 'subject' | 'summary' | 'sections'> {
  chart: Chart | undefined
  /** What the figures rest on, beside machine and versions: sentences. */
  conditions: readonly string[]
}

export interface Section {
  title: string
  table?: Table
  /** Sentences. */
  notes: readonly string[]
  /** Not on a terminal, and behind its title elsewhere. */
  isFolded?: true
}

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
  /** Names that could not be told apart, each a part of the order: they get a bracket. */
  ties?: readonly (readonly string[])[]
}

export interface Dot {
  name: string
  value: number
  low: number | null
  high: number | null
  leads: boolean
}

export interface Axis {
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
