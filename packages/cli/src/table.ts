import { UNKNOWN } from './numbers.ts'
import { indented, wrap } from './text.ts'

/** Tables for people: plain columns on a terminal, bars in Markdown. */

interface Column {
  heading: string
  align: 'left' | 'right'
  /** Columns with priority 0 are always shown. If a table is too wide, columns with the highest number are dropped first. */
  priority: number
}

export interface Row {
  tone: 'best' | 'void' | 'plain'
  /** One text per column. */
  cells: readonly string[]
}

export interface Table {
  columns: readonly Column[]
  rows: readonly Row[]
}

/** A column with its text for an item: one row of the table. */
export interface ItemColumn<Item> extends Column {
  text: (item: Item) => string
}

/** A column of words. */
export function left<Item>(heading: string, priority: number, text: (item: Item) => string) {
  return { heading, align: 'left' as const, priority, text }
}

/** A column of figures. */
export function right<Item>(heading: string, priority: number, text: (item: Item) => string) {
  return { heading, align: 'right' as const, priority, text }
}

/** A table with one row per item. */
export function tableOf<Item>(
  items: readonly Item[],
  columns: readonly ItemColumn<Item>[],
  toneOf: (item: Item) => Row['tone'] = () => 'plain',
): Table {
  const rows = items.map((item) => ({ tone: toneOf(item), cells: columns.map(({ text }) => text(item)) }))
  return { columns, rows }
}

/** Drops columns without any figure: the system does not report it, or it does not apply. */
export function withoutUnknown({ columns, rows }: Table): Table {
  const isKnown = (_: unknown, index: number) =>
    rows.some(({ cells }) => cells[index] !== '' && cells[index] !== UNKNOWN)
  return {
    columns: columns.filter(isKnown),
    rows: rows.map(({ tone, cells }) => ({ tone, cells: cells.filter(isKnown) })),
  }
}

const GAP = 2

/** A column with its index in the table and its width. */
interface Placed extends Column {
  index: number
  width: number
}

/**
 * Lays out tables with the same headings alike, with as many columns as fit. If even the columns that are always shown do not fit, the
 * table becomes a list without a head.
 * @param width columns of the terminal
 * @returns lines of text for each, without colour
 */
export function layOut(tables: readonly Table[], width: number) {
  const keyOf = ({ columns }: Table) => columns.map(({ heading }) => heading).join('|')
  const groups = [...Map.groupBy(tables, keyOf)]
  const placed = new Map(groups.map(([key, group]) => [key, placeColumns(group, width)]))
  return tables.map((table) => {
    const columns = placed.get(keyOf(table)) ?? []
    const { rows } = table
    const isList = totalWidth(columns) > width
    const line = (cells: readonly string[]) => padded(columns, cells).join(' '.repeat(GAP)).trimEnd()
    const textOf = (cells: readonly string[]) => (isList ? listItem(columns, cells, width) : line(cells))
    return {
      head: isList ? '' : line(table.columns.map(({ heading }) => heading)),
      rows: rows.map(({ tone, cells }) => ({ tone, text: textOf(cells) })),
    }
  })
}

/** The first cell, and below it the others with their headings: `published 2.00, ours 1.62`. */
function listItem([first, ...others]: readonly Placed[], cells: readonly string[], width: number): string {
  const told = others
    .filter(({ index }) => (cells[index] ?? '') !== '')
    .map(({ heading, index }) => `${heading} ${cells[index]}`)
  return `${wrap(cells[first?.index ?? 0] ?? '', '  ', width)}\n${indented(told.join(', '), '  ', width)}`
}

/** Chooses the columns to show. Empty columns are dropped. */
function placeColumns(tables: readonly Table[], width: number): Placed[] {
  const rows = tables.flatMap((table) => table.rows)
  const [first] = tables
  let columns: Placed[] = (first?.columns ?? []).flatMap((column, index) => {
    const widest = Math.max(0, ...rows.map(({ cells }) => cells[index]?.length ?? 0))
    return widest === 0 ? [] : [{ ...column, index, width: Math.max(column.heading.length, widest) }]
  })
  while (totalWidth(columns) > width) {
    const least = Math.max(...columns.map(({ priority }) => priority))
    if (least === 0) break
    columns = columns.filter(({ priority }) => priority < least)
  }
  return columns
}

function totalWidth(columns: readonly Placed[]): number {
  return columns.reduce((sum, column) => sum + column.width + GAP, -GAP)
}

function padded(columns: readonly Placed[], cells: readonly string[]): string[] {
  return columns.map(({ index, width, align }) => {
    const text = cells[index] ?? ''
    return align === 'left' ? text.padEnd(width) : text.padStart(width)
  })
}

/**
 * A GitHub table, aligned so that people can read its source.
 * @param priority columns with a higher number are dropped
 */
export function markdownTable({ columns, rows }: Table, priority: number): string {
  const placed = placeColumns([{ columns, rows }], Number.POSITIVE_INFINITY)
    .filter((column) => column.priority <= priority)
    .map((column) => ({ ...column, width: Math.max(3, column.width) })) // a rule has three dashes
  const line = (cells: readonly string[]) => `| ${padded(placed, cells).join(' | ')} |`
  const rule = placed.map(({ width, align }) =>
    align === 'left' ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  const head = line(columns.map(({ heading }) => heading))
  return [head, `| ${rule.join(' | ')} |`, ...rows.map(({ cells }) => line(cells))].join('\n')
}
