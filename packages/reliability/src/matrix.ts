import { layOut, left, tableOf } from '@startgrid/cli/table.ts'
import { indented } from '@startgrid/cli/text.ts'
import { type App, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type AppFault, AppSubject } from './app.ts'
import { ANY } from './faults/any.ts'
import { failingHandler, silentHandler } from './faults/handlers.ts'
import { cutsOff, overload } from './faults/limits.ts'
import { drains, refusedStart, uncaught } from './faults/process.ts'
import { certain, tryFault } from './subject.ts'

/** What an app must do beyond what is asked of any server, by fault. */
const MORE: Readonly<Record<string, AppFault['runOnApp']>> = {
  stop: drains,
  slow: cutsOff,
}

/** The rows of the matrix, in its order. */
export const FAULTS: readonly AppFault[] = [
  ...ANY.map((fault) => ({ ...fault, runOnApp: MORE[fault.name] ?? (async () => []) })),
  uncaught,
  failingHandler,
  silentHandler,
  overload,
  refusedStart,
]

/** A cell of the matrix. */
export interface Cell {
  readonly fault: string
  readonly app: string
  readonly state: 'passed' | 'failed' | 'absent'
  /** Why it is absent, or what went wrong. */
  readonly findings: readonly string[]
}

interface RunOptions {
  readonly faults: readonly AppFault[]
  readonly apps: readonly App[]
  readonly nginx: Nginx
  readonly signal: AbortSignal
  /** Called with each finished cell, in no particular order; not with cells that an interruption ended. */
  onCell(cell: Cell): void
}

/** Tries every fault on every app: fault after fault, as many apps at a time as the fault allows. */
export async function tryFaults({ faults, apps, nginx, signal, onCell }: RunOptions): Promise<void> {
  for (const fault of faults) {
    const waiting = apps.values()
    const work = async (): Promise<void> => {
      for (const app of waiting) {
        if (signal.aborted) return
        const cell = await tryApp(fault, new AppSubject({ app, nginx, signal }))
        if (!signal.aborted) onCell(cell)
      }
    }
    await Promise.all(Array.from({ length: fault.atOnce }, work))
  }
}

/** Tries one app under one fault. */
export async function tryApp(fault: AppFault, subject: AppSubject): Promise<Cell> {
  const { name } = fault
  const cell = { fault: name, app: subject.app.name }
  const absence = fault.absent?.(subject.app)
  if (absence !== undefined) return { ...cell, state: 'absent', findings: [absence] }
  const seen = await tryFault(name, subject, async () => {
    const findings = (await fault.run?.(subject)) ?? []
    const more = (await fault.runOnApp?.(subject)) ?? []
    return [...findings, ...more.map((text) => certain(name, 'fails', text))]
  })
  const faults = seen.filter(({ kind }) => kind === 'fault')
  const findings = faults.map(({ row, text }) => (row === name ? text : `${row}: ${text}`))
  return { ...cell, state: findings.length > 0 ? 'failed' : 'passed', findings }
}

const FINDING_LINES = 4

/** Fault × framework; below it, why some are absent, and what failed, app by app. Ends with a line feed. @param faults names, in order */
export function formatMatrix(faults: readonly string[], cells: readonly Cell[]): string {
  const of = (framework: string) => cells.filter(({ app }) => app.startsWith(`${framework}/`))
  const frameworks = FRAMEWORKS.filter((name) => of(name).length > 0)
  const columns = frameworks.map((name) =>
    left<string>(name, 0, (fault) => stateOf(of(name).filter((cell) => cell.fault === fault))),
  )
  const matrix = tableOf(faults, [left('', 0, (fault) => fault), ...columns])
  const [{ head, rows } = { head: '', rows: [] }] = layOut([matrix], Number.POSITIVE_INFINITY)
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
  return [head, ...rows.map(({ text }) => text), '', ...reasons, ...found, counts.join(', '), ''].join('\n')
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
