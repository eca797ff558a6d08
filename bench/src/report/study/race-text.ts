import { painter } from '@startgrid/cli/paint.ts'
import { markdownTable } from '@startgrid/cli/table.ts'
import { wrap } from '@startgrid/cli/text.ts'
import type { StudyRecord } from '../../model/study-result.ts'
import { formatSections, formatWarnings, type TerminalStyle } from '../terminal.ts'
import { conditionsOfRace, findingsOf, sectionsOfRace } from './race-document.ts'

/** A race of commands on a terminal. Ends with a line feed. */
export function formatRace(result: StudyRecord, style: TerminalStyle): string {
  const paint = painter(style.color)
  const say = (text: string) => wrap(text, '', style.columns)
  const blocks = [
    ...findingsOf(result).map((sentence) => paint('bold', say(`${sentence}.`))),
    formatWarnings(result.warnings, style),
    ...formatSections(sectionsOfRace(result), style),
    paint('dim', conditionsOfRace(result).map(say).join('\n')),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

export function formatRaceMarkdown(result: StudyRecord): string {
  const blocks = [
    ...findingsOf(result).map((sentence) => `**${sentence}.**`),
    ...sectionsOfRace(result).flatMap(({ title, table, notes }) => [
      `## ${title}`,
      markdownTable(table, 3),
      ...notes,
    ]),
    ...conditionsOfRace(result),
  ]
  return `${blocks.join('\n\n')}\n`
}
