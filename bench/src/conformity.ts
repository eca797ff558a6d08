import { createHash, type Hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkConformance, type Report } from '@startgrid/conformance'
import { type Lineup, startLineup } from '@startgrid/grid/lineup.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { appOf } from './plan.ts'
import type { CellSpec, ConformanceRecord } from './results.ts'
import { oneLine } from './text.ts'

/** Equal work first: before a cell is measured, the contract's suite must pass on it. */

/** Random inputs per check. `pnpm test` takes 50; here the fixed ones count, and time is short. */
const RUNS = 5

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MEMORY = fileURLToPath(new URL('../.cache/conformance.json', import.meta.url))

export interface ConformityOptions {
  nginx: Nginx | undefined
  signal: AbortSignal
  /** Told which role is being proven; not called if everything is remembered. */
  onRole(role: string): void
}

/**
 * Runs the contract's suite on every cell. What the same files passed before on this machine is remembered and not tried again;
 * twins are not tried apart from their originals. After an abort cells are missing.
 */
export async function proveCells(
  cells: readonly CellSpec[],
  options: ConformityOptions,
): Promise<ConformanceRecord[]> {
  const memory = readMemory()
  const records: ConformanceRecord[] = []
  const tried = cells.filter(({ skipped }) => skipped === null)
  for (const [role, own] of Map.groupBy(tried, (cell) => cell.role)) {
    if (options.signal.aborted) return records
    const keys = new Map(own.map((cell) => [cell.id, keyOf(cell, options.nginx)]))
    const unknown = own.filter((cell) => memory.get(keys.get(cell.id) ?? '') === undefined)
    if (unknown.length > 0) options.onRole(role)
    const proven = unknown.length > 0 ? await proveRole(originalsOf(unknown), options) : new Map()
    for (const cell of own) {
      const key = keys.get(cell.id) ?? ''
      const checked = memory.get(key)
      const fresh: Proof | undefined = proven.get(originalId(cell))
      if (checked !== undefined) records.push({ cell: cell.id, checked, differences: [], remembered: true })
      else if (fresh !== undefined) records.push({ cell: cell.id, ...fresh, remembered: false })
    }
    for (const cell of unknown) {
      const fresh: Proof | undefined = proven.get(originalId(cell))
      if (fresh?.differences.length === 0) memory.set(keys.get(cell.id) ?? '', fresh.checked)
    }
    writeMemory(memory)
  }
  return records
}

type Proof = Pick<ConformanceRecord, 'checked' | 'differences'>

/** `node/hello#2 direct` is proven by `node/hello direct`. */
function originalId({ id }: CellSpec): string {
  return id.replace(/#\d+/, '')
}

function originalsOf(cells: readonly CellSpec[]): CellSpec[] {
  const originals = cells.map((cell) => ({
    ...cell,
    id: originalId(cell),
    app: cell.app.replace(/#\d+$/, ''),
  }))
  return [...new Map(originals.map((cell) => [cell.id, cell])).values()]
}

/** All cells of a role at once: the suite mostly waits. */
async function proveRole(
  cells: readonly CellSpec[],
  options: ConformityOptions,
): Promise<Map<string, Proof>> {
  const apps = [...new Map(cells.map((cell) => [cell.app, appOf(cell)])).values()]
  const topologies = [...new Set(cells.map(({ topology }) => topology))]
  const lineup = await startLineup({ apps, topologies, nginx: options.nginx }).catch((error: unknown) =>
    oneLine(error),
  )
  if (typeof lineup === 'string') {
    return new Map(
      cells.map(({ id }) => [id, { checked: 0, differences: [`the servers did not start: ${lineup}`] }]),
    )
  }
  try {
    const proofs = cells.map(async (cell) => [cell.id, await proveCell(cell, lineup, options)] as const)
    return new Map(
      (await Promise.all(proofs)).filter(([, proof]) => proof !== undefined) as [string, Proof][],
    )
  } finally {
    await lineup.stop()
  }
}

/** @returns undefined after an abort */
async function proveCell(
  cell: CellSpec,
  lineup: Lineup,
  { signal }: ConformityOptions,
): Promise<Proof | undefined> {
  const app = appOf(cell)
  const target = lineup.target(app, cell.topology)
  if (target === undefined) {
    return { checked: 0, differences: [oneLine(lineup.failures.get(app.name) ?? 'it cannot be reached')] }
  }
  const proxied = cell.topology !== 'direct' || app.framework === 'njs'
  try {
    const report = await checkConformance({
      target,
      role: app.role,
      absent: app.absent,
      proxied,
      runs: RUNS,
      signal,
    })
    return { checked: report.passed.length + report.failed.length, differences: linesOf(report) }
  } catch (error) {
    return signal.aborted ? undefined : { checked: 0, differences: [oneLine(error)] }
  }
}

function linesOf({ differences }: Report): string[] {
  return differences.map(({ check, expected, received }) => `${check}: expected ${expected}, got ${received}`)
}

/** What decides the suite's verdict on a cell: the files of its app, of what they share, of NGINX and of the suite. */
function keyOf({ app, topology }: CellSpec, nginx: Nginx | undefined): string {
  const hash = createHash('sha256')
  const [framework = ''] = app.split('/')
  for (const directory of [`apps/${framework}`, 'packages/shared', 'packages/conformance/src', 'nginx']) {
    hashDirectory(hash, `${ROOT}${directory}`)
  }
  hash.update(readFileSync(`${ROOT}pnpm-lock.yaml`))
  const settings = SETTINGS.map((name) => `${name}=${process.env[name] ?? ''}`)
  hash.update(
    [app.replace(/#\d+$/, ''), topology, nginx?.describe(), process.version, ...settings].join('\0'),
  )
  return hash.digest('hex').slice(0, 32)
}

/** Variables that apps and their runtimes read, and that the launcher passes on. */
const SETTINGS = ['TRUST_PROXY', 'SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'NODE_OPTIONS', 'BUN_OPTIONS']

/** Sources and what was built from them; tests and installed packages (they are in the lockfile) do not matter. */
function hashDirectory(hash: Hash, directory: string): void {
  const entries = readdirSync(directory, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  for (const entry of entries) {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory() && !IGNORED.has(entry.name)) hashDirectory(hash, path)
    else if (entry.isFile() && !entry.name.startsWith('.'))
      hash.update(`${path.slice(ROOT.length)}\0`).update(readFileSync(path))
  }
}

const IGNORED: ReadonlySet<string> = new Set(['node_modules', 'test', '.turbo', '.cache'])

/** Checks that passed, by key. */
function readMemory(): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(MEMORY, 'utf8')) as Record<string, number>))
  } catch {
    return new Map() // there is none yet, or it is not ours to read
  }
}

/** Only what was asked for lately is kept: keys of changed files never come back. */
function writeMemory(memory: ReadonlyMap<string, number>): void {
  const lately = [...memory].slice(-500)
  try {
    mkdirSync(dirname(MEMORY), { recursive: true })
    writeFileSync(MEMORY, JSON.stringify(Object.fromEntries(lately)))
  } catch {
    // A read-only checkout proves everything each time.
  }
}
