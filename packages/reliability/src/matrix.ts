import { once } from 'node:events'
import { layOut, left, tableOf } from '@startgrid/cli/table.ts'
import { indented } from '@startgrid/cli/text.ts'
import { type App, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { failingHandler, silentHandler } from './faults/handlers.ts'
import { leaks } from './faults/leaks.ts'
import { limits, overload, slowClients } from './faults/limits.ts'
import { refusedStart, uncaught } from './faults/process.ts'
import { restart, sigterm } from './faults/stops.ts'
import { type Fault, Subject } from './subject.ts'

/** The rows of the matrix, in its order. */
export const FAULTS: readonly Fault[] = [
  sigterm,
  restart,
  uncaught,
  failingHandler,
  silentHandler,
  slowClients,
  leaks,
  limits,
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
  readonly faults: readonly Fault[]
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
        const cell = await tryFault(fault, new Subject({ app, nginx, signal }))
        if (!signal.aborted) onCell(cell)
      }
    }
    await Promise.all(Array.from({ length: fault.atOnce }, work))
  }
}

/** Tries one app under one fault. An error during the try is a finding, so nothing passes untested. */
export async function tryFault(fault: Fault, subject: Subject): Promise<Cell> {
  const cell = { fault: fault.name, app: subject.app.name }
  const absence = fault.absent?.(subject.app)
  if (absence !== undefined) return { ...cell, state: 'absent', findings: [absence] }
  const findings = await attempt(fault, subject)
  return { ...cell, state: findings.length > 0 ? 'failed' : 'passed', findings }
}

async function attempt(fault: Fault, subject: Subject): Promise<string[]> {
  try {
    return await Promise.race([fault.run(subject), interrupted(subject.signal)])
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    await subject.end()
  }
}

/** Rejects when a person interrupts: some faults take minutes. */
async function interrupted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw new Error('It was interrupted.')
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
