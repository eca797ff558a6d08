import { indented, wrap } from '@startgrid/cli/text.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import type { Fault } from '../fault.ts'
import type { Cell } from '../run.ts'
import type { Result } from './result.ts'

const FINDING_LINES = 4

/** Fault × framework; what failed is told below, app by app. Ends with a line feed. */
export function formatMatrix({ cells, faults }: Pick<Result, 'cells' | 'faults'>): string {
  const frameworks = FRAMEWORKS.filter((framework) =>
    cells.some(({ app }) => app.startsWith(`${framework}/`)),
  )
  const rows = faults.map((fault) => {
    const own = cells.filter((cell) => cell.fault === fault)
    return [fault, ...frameworks.map((name) => stateOf(own.filter(({ app }) => app.startsWith(`${name}/`))))]
  })
  const failed = cells.filter(({ state }) => state === 'failed')
  const found = failed.flatMap(({ fault, app, findings }) => [
    `${fault}  ${app}`,
    ...findings.flatMap((finding) => firstLines(finding).map((text) => indented(text, '  '))),
  ])
  const undecided = count(cells, 'undecided')
  return [
    ...alignColumns([['', ...frameworks], ...rows]),
    '',
    ...found,
    ...(found.length > 0 ? [''] : []),
    `${count(cells, 'passed')} passed, ${failed.length} failed, ${count(cells, 'absent')} absent${undecided > 0 ? `, ${undecided} undecided` : ''}`,
    '',
  ].join('\n')
}

/** Stacks and bodies are long; the result has them whole. */
function firstLines(finding: string): string[] {
  const lines = finding.split('\n').filter((text) => text.trim() !== '')
  return lines.length <= FINDING_LINES ? lines : [...lines.slice(0, FINDING_LINES), '…']
}

/** Of a framework's apps under one fault: `ok`, `2 FAIL`, `1 ?` (undecided), `absent`; empty if none was tried. */
function stateOf(cells: readonly Cell[]): string {
  const failed = count(cells, 'failed')
  if (failed > 0) return `${failed} FAIL`
  const undecided = count(cells, 'undecided')
  if (undecided > 0) return `${undecided} ?`
  if (count(cells, 'passed') > 0) return 'ok'
  return cells.length > 0 ? 'absent' : ''
}

function count(cells: readonly Cell[], wanted: Cell['state']): number {
  return cells.filter(({ state }) => state === wanted).length
}

/** Columns are as wide as what is in them, so that eight frameworks fit into 80. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** One sentence for a cell that became known. */
export function formatCell({ fault, app, state, findings, seconds }: Cell): string {
  const first = findings.length === 0 ? '' : `: ${findings[0]?.split('\n')[0]}`
  return wrap(`${fault}  ${app}  ${state} after ${seconds} s${state === 'failed' ? first : ''}`, '  ')
}

/** What `--list` prints. */
export function formatFaults(faults: readonly Pick<Fault, 'name' | 'title' | 'expected'>[]): string {
  return `${faults.map(({ name, title, expected }) => `${name}\n${indented(`${title}: ${expected}`, '  ')}`).join('\n')}\n`
}
