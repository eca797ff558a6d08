import { oneLine } from '@startgrid/cli/text.ts'
import type { Report } from '@startgrid/conformance'
import { APPS } from '@startgrid/grid/apps.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import type { Cell, ConformanceRecord } from '../model/cell.ts'
import type { Experiment, System } from '../model/experiment.ts'
import {
  type Contract,
  type Environment,
  orAborted,
  type Proof,
  startServers,
  systemOf,
} from './environment.ts'
import { Memory } from './remembered.ts'

/** Equal work first: before a cell is measured, the contract's suite must pass on it. */

/** Cells that are started together, and how many of them are proven at the same time: the suite mostly waits. */
const STARTED = 18
const AT_ONCE = 6

interface ProofOptions {
  environment: Pick<Environment, 'ingredients' | 'start' | 'prove'>
  experiment: Experiment
  signal: AbortSignal
  /** Called before the first check; not if everything is remembered. */
  onBegin(): void
}

/**
 * Runs the contract's suite on every cell. What the same files passed before on this machine is remembered and not tried again. Cells that run the
 * same, such as twins, are tried once. After an abort cells are missing.
 */
export async function proveCells(
  cells: readonly Cell[],
  { onBegin, ...options }: ProofOptions,
): Promise<ConformanceRecord[]> {
  const { environment, experiment, signal } = options
  if (signal.aborted) return []
  const memory = new Memory<number>('conformance')
  const tried = cells.filter(({ skipped, role }) => skipped === null && role !== null)
  const known = tried.map((cell) => {
    const found = environment.ingredients(cell)
    const { app, nginx } = systemOf(experiment, cell)
    const print = found && fingerprint(found.files, [JSON.stringify({ app, nginx }), ...found.facts])
    return { cell, print, checked: memory.get(print ?? '') }
  })
  const unknown = known.filter(({ checked }) => checked === undefined).map(({ cell }) => cell)
  if (unknown.length > 0) onBegin()
  const distinct = [...new Map(unknown.map((cell) => [nameOf(cell), cell])).values()]
  const proofs = new Map<string, Proof>()
  for (let from = 0; from < distinct.length; from += STARTED)
    for (const [cell, proof] of await proveStarted(distinct.slice(from, from + STARTED), options))
      proofs.set(nameOf(cell), proof)
  const records = known.flatMap(({ cell, print, checked }): ConformanceRecord[] => {
    if (checked !== undefined) return [{ cell: cell.id, checked, differences: [], remembered: true }]
    const fresh = proofs.get(nameOf(cell))
    if (fresh === undefined) return []
    if (print !== null && fresh.differences.length === 0) memory.set(print, fresh.checked)
    return [{ cell: cell.id, ...fresh, remembered: false }]
  })
  memory.save()
  return records
}

/** Cells with the same name run the same: a twin as its original, and a system that is in several races. */
function nameOf({ app, twinOf, topology }: Cell): string {
  return `${twinOf ?? app} ${topology}`
}

/** Starts the servers of these cells, runs the suite on each cell, and stops them. @returns what was found until an abort */
export async function proveStarted(
  cells: readonly Cell[],
  { environment, experiment, signal }: Omit<ProofOptions, 'onBegin'>,
): Promise<ReadonlyMap<Cell, Proof>> {
  const proofs = new Map<Cell, Proof>()
  if (signal.aborted) return proofs
  const servers = await startServers(environment, cells, { signal, pinned: false })
  if (servers === undefined) return proofs
  const open = [...cells]
  const work = async () => {
    for (let cell = open.shift(); cell !== undefined && !signal.aborted; cell = open.shift()) {
      const server = servers.running.get(cell.id)
      const proof =
        server === undefined
          ? failed(servers.failures.get(cell.id) ?? 'it was not started')
          : await environment.prove(server, contractOf(cell, systemOf(experiment, cell))).catch(failed)
      if (!signal.aborted) proofs.set(cell, proof)
    }
  }
  try {
    // A suite that runs elsewhere goes on after an abort; nobody waits for it.
    await orAborted(Promise.all(Array.from({ length: AT_ONCE }, work)), signal)
  } finally {
    await servers.stop()
  }
  return proofs
}

function failed(reason: unknown): Proof {
  return { checked: 0, differences: [oneLine(reason)] }
}

function contractOf({ role }: Cell, system: System): Contract {
  if (role === null) throw new Error('No contract covers it.')
  const { app, nginx } = system
  const own = APPS.find((one) => one.role === role && one.directory.endsWith(`/${app?.package}`))
  return {
    role,
    absent: own?.absent ?? [],
    compressed: nginx?.front.startsWith('nginx') ?? false,
  }
}

/** What the suite found. */
export function proofOf({ passed, failed: wrong, differences }: Report): Proof {
  return {
    checked: passed.length + wrong.length,
    differences: differences.map(
      ({ check, expected, received }) => `${check}: expected ${expected}, got ${received}`,
    ),
  }
}
