import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { markdownWords } from '@startgrid/cli/table.ts'
import { FRAMEWORKS, ROLES, type Role } from '@startgrid/grid/apps.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import { describeVersions } from '@startgrid/machine/provenance.ts'
import { FAULTS } from '../faults/index.ts'
import type { Cell } from '../run.ts'
import { groupApps } from './app-groups.ts'
import type { Result } from './result.ts'

/** docs/reliability.md: prose by hand, and between two marks what the stored result says. */

const PAGE = fileURLToPath(new URL('../../../../docs/reliability.md', import.meta.url))

export const MARKS = {
  begin: '<!-- matrix: pnpm reliability --docs -->',
  end: '<!-- end of matrix -->',
} as const

/** A page that has no place for the matrix; the message is a sentence. */
export class DocsError extends ForeseenError {
  override name = 'DocsError'
}

/** Puts the matrix of a result between two marks of the page. @throws {DocsError} */
export function writePage(
  result: Result,
  page = PAGE,
  marks: Readonly<Record<'begin' | 'end', string>> = MARKS,
): void {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(marks.begin), text.indexOf(marks.end)]
  if (begin < 0 || end < begin)
    throw new DocsError(`${page} has no place for the matrix: put ${marks.begin} and ${marks.end} into it.`)
  writeFileSync(
    page,
    `${text.slice(0, begin)}${marks.begin}\n\n${formatMarkdown(result)}\n${text.slice(end)}`,
  )
}

/** Fault × app, one table per role, with the reasons, notes and figures below. Ends with a line feed. */
function formatMarkdown(result: Result): string {
  return `${[
    formatFaults(result),
    '✓ passed, ✗ failed, · measured and not judged, – cannot be tried, ? undecided, because something disturbed the machine; reasons are below.',
    ...ROLES.filter((role) => result.apps.some((app) => app.endsWith(`/${role}`))).map((role) =>
      formatRole(result, role),
    ),
    ...section(
      'Absent',
      remarksOf(result, 'absent', ({ findings }) => findings),
    ),
    ...section(
      'Undecided',
      remarksOf(result, 'undecided', ({ findings }) => findings),
    ),
    ...section(
      'Failed',
      remarksOf(result, 'failed', ({ findings }) => findings),
    ),
    ...section(
      'Notes',
      remarksOf(result, undefined, ({ notes }) => notes),
    ),
    ...section('Figures', formatFigures(result)),
    `Tried ${result.size === 'full' ? 'in full' : 'in the short form'}, from ${formatTimestamp(result.startedAt)} on: ${describeMachine(result.machine)}; ` +
      `${describeVersions(result.versions)}; ${result.nginx}; startgrid ${result.versions.startgrid}. ` +
      `Again: \`${result.command}\``,
  ].join('\n\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`### ${title}`, ...lines]
}

function formatFaults({ faults }: Result): string {
  const known = FAULTS.filter(({ name }) => faults.includes(name))
  const rows = known.map(({ name, title, expected }) => [name, title, expected])
  return markdownWords(['fault', 'what is done', 'what must happen'], rows)
}

const SIGNS = { passed: '✓', failed: '✗', absent: '–', undecided: '?' } as const

function formatRole({ cells, faults }: Result, role: Role): string {
  const unjudged = new Set(
    FAULTS.filter(({ judged = ROLES }) => !judged.includes(role)).map(({ name }) => name),
  )
  const signOf = ({ fault, state }: Cell) => (state === 'passed' && unjudged.has(fault) ? '·' : SIGNS[state])
  const states = new Map(cells.map((cell) => [`${cell.fault} ${cell.app}`, signOf(cell)]))
  const rows = faults.map((fault) => [
    fault,
    ...FRAMEWORKS.map((framework) => states.get(`${fault} ${framework}/${role}`) ?? ''),
  ])
  return markdownWords([role, ...FRAMEWORKS], rows)
}

/** A list item per fault and sentence, with the apps of which it is true. */
function remarksOf(
  { cells, faults }: Result,
  state: Cell['state'] | undefined,
  sentencesOf: (cell: Cell) => readonly string[],
): string[] {
  const items = faults.flatMap((fault) => {
    const said = cells
      .filter((cell) => cell.fault === fault && (state === undefined || cell.state === state))
      .flatMap((cell) => sentencesOf(cell).map((sentence) => ({ app: cell.app, sentence })))
    return [...Map.groupBy(said, ({ sentence }) => sentence)].map(
      ([sentence, of]) =>
        `- \`${fault}\`, ${groupApps(of.map(({ app }) => app))}: ${sentence.replaceAll('\n', ' ')}`,
    )
  })
  return items.length === 0 ? [] : [items.join('\n')]
}

/** A table per fault that measured something. */
function formatFigures({ cells, faults, apps }: Result): string[] {
  return faults.flatMap((fault) => {
    const measured = new Map(
      cells.filter((cell) => cell.fault === fault).map(({ app, figures }) => [app, figures]),
    )
    const names = [...new Set([...measured.values()].flatMap((figures) => Object.keys(figures)))]
    if (names.length === 0) return []
    const rows = apps.flatMap((app) => {
      const figures = measured.get(app) ?? {}
      const values = names.map((name) => formatFigure(figures[name]))
      return values.every((value) => value === '') ? [] : [[app, ...values]]
    })
    return [`<details><summary>${fault}</summary>`, markdownWords(['app', ...names], rows), '</details>']
  })
}

function formatFigure(figure: number | string | undefined): string {
  return typeof figure === 'number' ? figure.toLocaleString('en-US') : (figure ?? '')
}
