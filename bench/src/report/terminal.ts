import { layOut, type Row } from '@startgrid/cli/table.ts'
import { COLUMNS, type Format, painter, wrap } from '@startgrid/cli/text.ts'
import { chartLines } from './chart.ts'
import type { Document, Section } from './document.ts'

/** A document on a terminal. */

interface TerminalStyle {
  /** No line is longer. At least 60. */
  columns: number
  /** Colour only repeats what the text says. */
  color: boolean
}

const NARROWEST = 60
const WIDEST = 200

/** What a stream can show: 80 columns and no colour if it is not a terminal. Node asks NO_COLOR and FORCE_COLOR. */
export function terminalStyle(stream: NodeJS.WriteStream): TerminalStyle {
  const columns = stream.isTTY ? stream.columns : COLUMNS
  return {
    columns: Math.min(WIDEST, Math.max(NARROWEST, columns)),
    color: stream.isTTY === true && stream.hasColors(),
  }
}

const COLORS: Readonly<Record<Row['tone'], Format | null>> = { best: 'bold', void: 'red', plain: null }

/** What came out with its chart, then tables, and warnings at the end. Ends with a line feed. */
export function formatTerminal(document: Document, { color, columns }: TerminalStyle): string {
  const { finding, subject, warnings, chart, summary, sections, command } = document
  const paint = painter(color)
  const lines = (sentences: readonly string[]) => sentences.map((one) => wrap(one, '  ', columns)).join('\n')
  const blocks = [
    paint('bold', wrap(`${finding}.`, '', columns)),
    chart === undefined ? '' : chartLines(chart, { color, columns }),
    lines(summary.map((sentence) => `- ${sentence}`)),
    ...formatSections(
      sections.filter(({ isFolded }) => !isFolded),
      { color, columns },
    ),
    paint('dim', lines([`${subject}.`, `Repeat it: ${command}`])),
    paint('yellow', lines(warnings.map((warning) => `! ${warning}`))),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** Tables with the same columns in the same places; a block each. */
function formatSections(sections: readonly Section[], { color, columns }: TerminalStyle): string[] {
  const paint = painter(color)
  const tables = layOut(
    sections.map(({ table }) => table ?? { columns: [], rows: [] }),
    columns,
  )
  return sections.map(({ title, notes }, index) => {
    const { head = '', rows = [] } = tables[index] ?? {}
    return [
      paint('bold', wrap(title, '  ', columns)),
      ...(head === '' ? [] : [paint('dim', head)]),
      ...rows.map(({ tone, text }) => paint(COLORS[tone], text)),
      ...notes.map((note) => wrap(note, '  ', columns)),
    ].join('\n')
  })
}
