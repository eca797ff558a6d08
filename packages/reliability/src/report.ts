import { left, markdownTable, tableOf } from '@startgrid/cli/table.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import type { Survey } from './command.ts'
import type { Row } from './finding.ts'

/** What was found in a server, for people and for programs. */

const COLUMN = 16
const WORD = 10

/** A line or more, of 80 columns. */
export function formatFinding({ row, kind, word, text }: Row): string {
  const head = row.padEnd(COLUMN)
  if (kind === 'not tested') return wrap(`${head}not tested: ${text}`, ' '.repeat(COLUMN))
  return wrap(`${head}${word.padEnd(WORD)}${text}`, ' '.repeat(COLUMN + WORD))
}

/** `2 faults found in 84 s. node server.js, Node 24.11.1`, below an empty line. */
export function formatEnd(command: string, { runtime, findings }: Survey, seconds: number): string {
  const count = faultsOf(findings).length
  const found = count === 0 ? 'No fault' : plural(count, 'fault')
  const program = [command, ...(runtime === undefined ? [] : [runtime])].join(', ')
  return `\n${found} found in ${Math.round(seconds)} s. ${program}`
}

/** An app in a line, and whatever is not in order in it. Ends with a line feed. */
export function formatApp(name: string, findings: readonly Row[]): string {
  const wrong = findings.filter(({ kind }) => kind === 'fault' || kind === 'warning')
  const tried = findings.filter(({ kind }) => kind !== 'not tested').length
  const said = `${plural(faultsOf(wrong).length, 'fault')}, ${plural(tried, 'row')} tried`
  return [`${name}: ${said}`, ...wrong.map(formatFinding), ''].join('\n')
}

/** For a comment on a pull request. */
export function formatMarkdown(command: string, survey: Survey, seconds: number): string {
  const columns = [
    left<Row>('tried', 0, ({ row }) => row),
    left<Row>('result', 0, ({ kind, word }) => (kind === 'fault' ? `**${word}**` : word)),
    left<Row>('seen', 0, ({ text }) => text.replaceAll('|', '\\|')),
  ]
  return `${markdownTable(tableOf(survey.findings, columns), 0)}\n${formatEnd(command, survey, seconds)}`
}

/** For programs. */
export function formatJson(command: string, { runtime, findings }: Survey, seconds: number): string {
  const told = findings.map(({ row, kind, word, text }) => ({ row, kind, word, text }))
  return JSON.stringify({ command, runtime: runtime ?? null, seconds, findings: told }, null, 2)
}

export function faultsOf(findings: readonly Row[]): Row[] {
  return findings.filter(({ kind }) => kind === 'fault')
}
