import type { Table } from '@startgrid/cli/table.ts'
import type { Chart } from './chart.ts'

/** What a result says. A terminal, Markdown and a page show it, and know nothing of races. */
export interface Document {
  /** What came out, in a sentence without its full stop: the headline. */
  finding: string
  /** What was measured, of what, and when. */
  subject: string
  /** What a reader must know before they believe it: sentences. */
  warnings: readonly string[]
  /** What shows the finding. */
  chart: Chart | undefined
  /** What else came out, the most important first: sentences. */
  summary: readonly string[]
  /** The most important first. */
  sections: readonly Section[]
  /** What repeats it, for a shell. */
  command: string
}

/** What is said of the grid, a study or a race of commands; the rest of a document is the same for all. */
export interface Findings extends Omit<Document, 'warnings' | 'command'> {
  /** What the figures rest on, beside machine and versions: sentences. */
  conditions: readonly string[]
}

export interface Section {
  title: string
  table?: Table
  /** Sentences. */
  notes: readonly string[]
  /** Markup without blank lines, on a page alone. */
  picture?: string
  /** Not on a terminal, and behind its title elsewhere. */
  isFolded?: true
}
