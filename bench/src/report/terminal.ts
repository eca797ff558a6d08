import { type Format, painter } from '@startgrid/cli/paint.ts'
import { layOut, type Row } from '@startgrid/cli/table.ts'
import { COLUMNS, capital, wrap } from '@startgrid/cli/text.ts'
import type { Result } from '../model/result.ts'
import { describeWarning, type Warning } from '../model/warnings.ts'
import { legendOf, titleOf } from './legend.ts'
import {
  describeCluster,
  describeCores,
  describeDriver,
  describeMachine,
  describeNginx,
  describeReach,
  describeSettings,
  describeSource,
} from './provenance.ts'
import type { Section } from './section.ts'
import { sectionsOf } from './sections.ts'
import { describeFailures, describeSkipped, summarise } from './summary.ts'

/** A result on a terminal. */

export interface TerminalStyle {
  /** No line is longer. At least 60. */
  columns: number
  /** Colour only repeats what the text says. */
  color: boolean
}

const NARROWEST = 60
const WIDEST = 200

/** What a stream can show: 80 columns if it is not a terminal; colour as NO_COLOR and FORCE_COLOR ask, else on terminals. */
export function terminalStyle(stream: NodeJS.WriteStream, environment = process.env): TerminalStyle {
  const columns = stream.isTTY ? stream.columns : COLUMNS
  return { columns: Math.min(WIDEST, Math.max(NARROWEST, columns)), color: wantsColor(stream, environment) }
}

function wantsColor(stream: NodeJS.WriteStream, { NO_COLOR, FORCE_COLOR }: NodeJS.ProcessEnv): boolean {
  // https://no-color.org: any value that is not empty; FORCE_COLOR=0 says the same.
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY === true && stream.hasColors()
}

/** Warnings first, then what the result says in sentences, its tables, and under which conditions it holds. Ends with a line feed. */
export function formatTables(result: Result, style: TerminalStyle): string {
  const paint = painter(style.color)
  const say = (text: string, indent = '') => wrap(text, indent, style.columns)
  const blocks = [
    paint('bold', say(headline(result))),
    formatWarnings(result.warnings, style),
    summarise(result)
      .map((sentence) => say(`- ${sentence}`, '  '))
      .join('\n'),
    ...formatSections(sectionsOf(result), style),
    [...describeSkipped(result), ...describeFailures(result)]
      .map((sentence) => say(sentence, '  '))
      .join('\n'),
    paint(
      'dim',
      conditions(result)
        .map((sentence) => say(sentence))
        .join('\n'),
    ),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function headline(result: Result): string {
  const unfinished =
    result.finishedAt === null ? ' INTERRUPTED: not everything that was planned was measured.' : ''
  return `${titleOf(result)}.${unfinished}`
}

export function formatWarnings(warnings: readonly Warning[], { color, columns }: TerminalStyle): string {
  const paint = painter(color)
  return warnings
    .map((warning) => paint('yellow', wrap(`! ${describeWarning(warning)}`, '  ', columns)))
    .join('\n')
}

/** Tables with the same columns in the same places; a block each. */
export function formatSections(
  sections: readonly Omit<Section, 'race'>[],
  { color, columns }: TerminalStyle,
): string[] {
  const paint = painter(color)
  const tables = layOut(
    sections.map(({ table }) => table),
    columns,
  )
  return sections.map(({ title, notes }, index) =>
    [
      paint('bold', wrap(title, '  ', columns)),
      '',
      paint('dim', tables[index]?.head ?? ''),
      ...(tables[index]?.rows.map(({ tone, text }) => paint(COLORS[tone], text)) ?? []),
      ...notes.map((note) => wrap(note, '  ', columns)),
    ].join('\n'),
  )
}

const COLORS: Readonly<Record<Row['tone'], Format | null>> = { best: 'bold', void: 'red', plain: null }

/** How to read the figures, what they rest on and how far they reach. */
function conditions(result: Result): string[] {
  const reach = describeReach(result)
  const cluster = describeCluster(result)
  return [
    legendOf(result),
    `${capital(describeSettings(result))}.${reach === null ? '' : ` ${reach}`}`,
    `${capital(describeDriver(result))}; ${describeCores(result)}.`,
    `${capital(describeMachine(result))}; ${describeNginx(result)}.`,
    ...(cluster === undefined ? [] : [`${cluster}.`]),
    `${capital(describeSource(result))}. Repeat it: ${result.command}`,
  ]
}
