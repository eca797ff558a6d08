import { indented } from '@startgrid/cli/text.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import type { Cell } from '../run.ts'

const FINDING_LINES = 4

/** Fault × framework; below it, why some are absent, and what failed, app by app. Ends with a line feed. @param faults names, in order */
export function formatMatrix(faults: readonly string[], cells: readonly Cell[]): string {
  const of = (framework: string) => cells.filter(({ app }) => app.startsWith(`${framework}/`))
  const frameworks = FRAMEWORKS.filter((name) => of(name).length > 0)
  const rows = faults.map((fault) => [
    fault,
    ...frameworks.map((name) => stateOf(of(name).filter((cell) => cell.fault === fault))),
  ])
  const failed = cells.filter(({ state }) => state === 'failed')
  const found = failed.flatMap(({ fault, app, findings }) => [
    `${fault}  ${app}`,
    ...findings.flatMap((finding) => firstLines(finding).map((text) => indented(text, '  '))),
  ])
  const absent = cells.filter(({ state }) => state === 'absent')
  const reasons = new Set(
    absent.map(({ fault, findings }) => indented(`${fault}  absent: ${findings[0]}`, '')),
  )
  const counts = (['passed', 'failed', 'absent'] as const).map((state) => `${count(cells, state)} ${state}`)
  return [
    ...alignColumns([['', ...frameworks], ...rows]),
    '',
    ...reasons,
    ...found,
    counts.join(', '),
    '',
  ].join('\n')
}

/** Stacks and bodies are long. */
function firstLines(finding: string): string[] {
  const lines = finding.split('\n').filter((text) => text.trim() !== '')
  return lines.length <= FINDING_LINES ? lines : [...lines.slice(0, FINDING_LINES), '…']
}

/** Of a framework's apps under one fault: `ok`, `2 FAIL`, `absent`; empty if none was tried. */
function stateOf(cells: readonly Cell[]): string {
  const failed = count(cells, 'failed')
  if (failed > 0) return `${failed} FAIL`
  if (count(cells, 'passed') > 0) return 'ok'
  return cells.length > 0 ? 'absent' : ''
}

function count(cells: readonly Cell[], wanted: Cell['state']): number {
  return cells.filter(({ state }) => state === wanted).length
}

/** Columns are as wide as what is in them, so that nine frameworks fit into 80. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
