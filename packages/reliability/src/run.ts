import { once } from 'node:events'
import type { App } from '@startgrid/grid/apps.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Fault, Outcome } from './fault.ts'
import { droppedPackets } from './subject/connection-table.ts'
import { type Size, Subject } from './subject/subject.ts'

/** A cell of the matrix. */
export interface Cell {
  readonly fault: string
  readonly app: string
  readonly state: 'passed' | 'failed' | 'absent' | 'undecided'
  /** Why it is absent or undecided, what was found, and what a reader should know. */
  readonly findings: readonly string[]
  readonly notes: readonly string[]
  readonly figures: Readonly<Record<string, number | string>>
  /** How long it took. */
  readonly seconds: number
}

interface RunOptions {
  readonly faults: readonly Fault[]
  readonly apps: readonly App[]
  readonly size: Size
  readonly seed: number
  readonly nginx: Nginx | undefined
  readonly signal: AbortSignal
  /** Cells that are known from an earlier run. */
  isKnown?(fault: string, app: string): boolean
  /** Called with each finished cell, in no particular order; not with cells that an interruption ended. */
  onCell(cell: Cell): void
}

/** Tries every fault on every app: fault after fault, as many apps at a time as the fault allows. */
export async function tryFaults(options: RunOptions): Promise<void> {
  for (const fault of options.faults) {
    const open = options.apps.filter((app) => !options.isKnown?.(fault.name, app.name)).values()
    const work = async (): Promise<void> => {
      for (const app of open) {
        if (options.signal.aborted) return
        const cell = await tryFault(fault, new Subject({ ...options, app }))
        if (!options.signal.aborted) options.onCell(cell)
      }
    }
    await Promise.all(Array.from({ length: fault.atOnce ?? 1 }, work))
  }
}

/**
 * Tests one app under one fault. An error during the test is a finding, so nothing passes untested. If the kernel dropped packets
 * meanwhile, findings do not count.
 * @param readDropped for tests: how many packets it has dropped so far
 */
export async function tryFault(
  fault: Fault,
  subject: Subject,
  readDropped: () => number = droppedPackets,
): Promise<Cell> {
  const cell = { fault: fault.name, app: subject.app.name, notes: [], figures: {} }
  const absence = fault.absent?.(subject.app, subject.size)
  if (absence !== undefined) return { ...cell, state: 'absent', findings: [absence], seconds: 0 }
  const startedAt = performance.now()
  const droppedBefore = readDropped()
  const { undecided, ...outcome } = await attempt(fault, subject)
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  const dropped = readDropped() - droppedBefore
  if (outcome.findings.length > 0 && dropped > 0)
    return {
      ...cell,
      ...outcome,
      state: 'undecided',
      findings: [tableWasFull(dropped), ...outcome.findings],
      seconds,
    }
  if (outcome.findings.length > 0) return { ...cell, ...outcome, state: 'failed', seconds }
  if (undecided === undefined) return { ...cell, ...outcome, state: 'passed', seconds }
  return { ...cell, ...outcome, state: 'undecided', findings: [undecided], seconds }
}

const tableWasFull = (packets: number) =>
  `The kernel dropped ${packets} packets, because its table of connections was full (nf_conntrack_max). Seen then:`

async function attempt(fault: Fault, subject: Subject): Promise<Outcome> {
  try {
    return await Promise.race([fault.run(subject), interrupted(subject.signal)])
  } catch (error) {
    return { findings: [error instanceof Error ? error.message : String(error)] }
  } finally {
    await subject.end()
  }
}

/** Rejects when a person interrupts: some faults take minutes. */
async function interrupted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw new Error('It was interrupted.')
}
