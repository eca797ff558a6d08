import type { Report } from '@startgrid/conformance'
import type { Cell, ConformanceRecord } from '../model/result.ts'
import type { Environment, Proof } from './environment.ts'
import { Memory } from './remembered.ts'

/** Equal work first: before a cell is measured, the contract's suite must pass on it. */

/** Random inputs per check. `pnpm test` takes 50; here the fixed ones count, and time is short. */
export const SUITE_RUNS = 5

export interface ConformityOptions {
  environment: Pick<Environment, 'fingerprint' | 'prove'>
  signal: AbortSignal
  /** Told which race is being proven; not called if everything is remembered. */
  onRace(race: string): void
}

/**
 * Runs the contract's suite on every cell. What the same files passed before on this machine is remembered and not tried again;
 * twins are not tried apart from their originals. After an abort cells are missing.
 */
export async function proveCells(
  cells: readonly Cell[],
  { environment, signal, onRace }: ConformityOptions,
): Promise<ConformanceRecord[]> {
  const memory = new Memory<number>('conformance')
  const records: ConformanceRecord[] = []
  const tried = cells.filter(({ skipped, role }) => skipped === null && role !== null)
  for (const [race, own] of Map.groupBy(tried, (cell) => cell.race)) {
    if (signal.aborted) return records
    const prints = new Map(own.map((cell) => [cell.id, environment.fingerprint(cell)]))
    const checkedBefore = ({ id }: Cell) => memory.get(prints.get(id) ?? '')
    const unknown = own.filter((cell) => checkedBefore(cell) === undefined)
    if (unknown.length > 0) onRace(race)
    const proven =
      unknown.length > 0 ? await environment.prove(originalsOf(unknown)) : new Map<string, Proof>()
    for (const cell of own) {
      const checked = checkedBefore(cell)
      const fresh = proven.get(originalId(cell))
      if (checked !== undefined) records.push({ cell: cell.id, checked, differences: [], remembered: true })
      else if (fresh !== undefined) records.push({ cell: cell.id, ...fresh, remembered: false })
    }
    for (const { cell, checked, differences, remembered } of records) {
      const print = prints.get(cell) ?? null
      if (print !== null && !remembered && differences.length === 0) memory.set(print, checked)
    }
    memory.save()
  }
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

/** Differences, a line each. */
export function linesOf({ differences }: Report): string[] {
  return differences.map(({ check, expected, received }) => `${check}: expected ${expected}, got ${received}`)
}
