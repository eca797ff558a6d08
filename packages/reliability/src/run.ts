import { once } from 'node:events'
import type { App } from '@startgrid/grid/apps.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Fault } from './fault.ts'
import { Subject } from './subject/subject.ts'

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
