import { oneLine } from '@startgrid/cli/text.ts'
import type { Report } from '@startgrid/conformance'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { Cell, ConformanceRecord } from '../model/result.ts'
import type { Environment, Proof } from './environment.ts'
import { Memory } from './remembered.ts'
import type { Servers } from './servers.ts'

/** Equal work first: before a cell is measured, the contract's suite must pass on it. */

/** Random inputs per check. `pnpm test` takes 50; here the fixed ones count, and time is short. */
export const SUITE_RUNS = 5

interface ConformityOptions {
  environment: Pick<Environment, 'fingerprint' | 'prove'>
  signal: AbortSignal
  /** Called before the first check; not if everything is remembered. */
  onBegin(): void
}

/**
 * Runs the contract's suite on every cell. What the same files passed before on this machine is remembered and not tried again;
 * twins are not tried apart from their originals. After an abort cells are missing.
 */
export async function proveCells(
  cells: readonly Cell[],
  { environment, signal, onBegin }: ConformityOptions,
): Promise<ConformanceRecord[]> {
  if (signal.aborted) return []
  const memory = new Memory<number>('conformance')
  const tried = cells.filter(({ skipped, role }) => skipped === null && role !== null)
  const known = tried.map((cell) => {
    const print = environment.fingerprint(cell)
    return { cell, print, checked: memory.get(print ?? '') }
  })
  const unknown = known.filter(({ checked }) => checked === undefined).map(({ cell }) => cell)
  if (unknown.length > 0) onBegin()
  const proven = unknown.length > 0 ? await environment.prove(originalsOf(unknown)) : new Map<string, Proof>()
  const records = known.flatMap(({ cell, print, checked }): ConformanceRecord[] => {
    if (checked !== undefined) return [{ cell: cell.id, checked, differences: [], remembered: true }]
    const fresh = proven.get(originalId(cell))
    if (fresh === undefined) return []
    if (print !== null && fresh.differences.length === 0) memory.set(print, fresh.checked)
    return [{ cell: cell.id, ...fresh, remembered: false }]
  })
  memory.save()
  return records
}

/** `node/hello#2 direct` is proven by `node/hello direct`. */
function originalId({ id }: Cell): string {
  return id.replace(/#\d+/, '')
}

function originalsOf(cells: readonly Cell[]): Cell[] {
  const originals = cells.map((cell) => ({
    ...cell,
    id: originalId(cell),
    app: cell.app.replace(/#\d+$/, ''),
  }))
  return [...new Map(originals.map((cell) => [cell.id, cell])).values()]
}

interface StartedProof {
  start(cells: readonly Cell[]): Promise<Servers>
  /** @throws {Error} if the suite cannot run */
  prove(cell: Cell, target: Target): Promise<Proof>
  signal: AbortSignal
  /** Cells that are tried at the same time: the suite mostly waits. */
  atOnce?: number
}

/** Starts the servers of these cells, runs the suite on each cell, and stops them. @returns verdicts by cell; after an abort some are missing */
export async function proveStarted(
  cells: readonly Cell[],
  { start, prove, signal, atOnce = 4 }: StartedProof,
): Promise<ReadonlyMap<string, Proof>> {
  const proofs = new Map<string, Proof>()
  if (signal.aborted) return proofs
  const servers = await start(cells).catch((error: unknown) => oneLine(error))
  if (typeof servers === 'string') {
    const failure = failed(`the servers did not start: ${servers}`)
    return new Map(signal.aborted ? [] : cells.map(({ id }) => [id, failure]))
  }
  const open = [...cells]
  const work = async () => {
    for (let cell = open.shift(); cell !== undefined && !signal.aborted; cell = open.shift()) {
      const target = servers.target(cell)
      const proof =
        target === undefined ? failed(servers.whyMissing(cell)) : await prove(cell, target).catch(failed)
      if (!signal.aborted) proofs.set(cell.id, proof)
    }
  }
  const { promise: aborted, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  try {
    // A suite that runs elsewhere goes on after an abort; nobody waits for it.
    await Promise.race([Promise.all(Array.from({ length: atOnce }, work)), aborted])
    return proofs
  } finally {
    await servers.stop()
  }
}

function failed(reason: unknown): Proof {
  return { checked: 0, differences: [oneLine(reason)] }
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
