import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { oneLine } from '@startgrid/cli/text.ts'
import { checkConformance } from '@startgrid/conformance/runner.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { readOr } from '@startgrid/machine/proc.ts'
import { fingerprint } from '@startgrid/machine/provenance.ts'
import type { Experiment, System } from '../result/experiment.ts'
import type { Cell, ConformanceRecord, NginxVersion } from '../result/result.ts'
import { needsNginx } from './native/open.ts'
import { orAborted, type Server, type Start, systemOf } from './servers.ts'

/** Equal work first: before a cell is measured, the contract's suite must pass on it. */

/** Cells that are started together, and proven at the same time: the suite mostly waits. */
const AT_ONCE = 8

interface ProofOptions {
  start: Start
  nginx: NginxVersion | null
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
  const { nginx, experiment } = options
  // Fingerprints of what passed: none if there are none yet, or they are not ours to read. Losing them costs time only.
  const memory = new Set(readOr<string[]>([], () => JSON.parse(readFileSync(MEMORY, 'utf8'))))
  const known = cells
    .filter(({ skipped, role }) => skipped === null && role !== null)
    .map((cell) => {
      const print = printOf(systemOf(experiment, cell), nginx)
      return { cell, print, hasPassed: memory.has(print) }
    })
  const unknown = known.filter(({ hasPassed }) => !hasPassed).map(({ cell }) => cell)
  if (unknown.length > 0) onBegin()
  const distinct = [...new Map(unknown.map((cell) => [nameOf(cell), cell])).values()]
  const found = new Map<string, string[]>()
  for (let from = 0; from < distinct.length; from += AT_ONCE)
    await proveStarted(distinct.slice(from, from + AT_ONCE), found, options)
  const records = known.flatMap(({ cell, print, hasPassed }) => {
    const differences = hasPassed ? [] : found.get(nameOf(cell))
    if (differences?.length === 0) memory.add(print)
    return differences === undefined ? [] : [{ cell: cell.id, differences }]
  })
  remember(memory)
  return records
}

/** Cells with the same name run the same: a twin as its original, and a system that is in several races. */
function nameOf({ app, twinOf, topology }: Cell): string {
  return `${twinOf ?? app} ${topology}`
}

/** Starts the servers of these cells, runs the suite on each, and stops them. After an abort nothing is added to what was `found`, by name. */
async function proveStarted(
  cells: readonly Cell[],
  found: Map<string, string[]>,
  { start, experiment, signal }: Omit<ProofOptions, 'onBegin'>,
): Promise<void> {
  if (signal.aborted) return
  const servers = await start(cells, { signal, pinned: false })
  const work = cells.map(async (cell) => {
    const server = servers.running.get(cell.id)
    const differences =
      server === undefined
        ? [servers.failures.get(cell.id) ?? 'it was not started']
        : await prove(server, cell, systemOf(experiment, cell), signal).catch((error) => [oneLine(error)])
    if (!signal.aborted) found.set(nameOf(cell), differences)
  })
  // A suite goes on for a while after an abort; nobody waits for it.
  await orAborted(Promise.all(work), signal).finally(() => servers.stop())
}

async function prove(
  { target }: Server,
  { role }: Cell,
  { app, nginx }: System,
  signal: AbortSignal,
): Promise<string[]> {
  if (role === null) throw new Error('No contract covers it.')
  const own = APPS.find((one) => one.role === role && one.directory.endsWith(`/${app?.package}`))
  const compressed = nginx?.front.startsWith('nginx') ?? false
  const report = await checkConformance({ target, role, absent: own?.absent ?? [], compressed, signal })
  return report.differences.map(
    ({ check, expected, received }) => `${check}: expected ${expected}, got ${received}`,
  )
}

/** What all apps share, NGINX and the suite. */
const SHARED = [
  'bench/src/servers/native',
  'packages/shared',
  'packages/conformance/src',
  'packages/wire/src',
  'nginx',
  'pnpm-lock.yaml',
]

/** Variables that apps and their runtimes read, and that the launcher passes on. */
const SETTINGS = ['TRUST_PROXY', 'SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'NODE_OPTIONS', 'BUN_OPTIONS']

/** The same while everything that decides the suite's verdict is the same. */
function printOf(system: System, nginx: NginxVersion | null): string {
  const { app, nginx: front } = system
  // The subject of a study imports apps.
  const own = app === undefined ? [] : app.package.startsWith('apps/') ? [app.package] : [app.package, 'apps']
  return fingerprint(
    [...own, ...SHARED],
    [
      JSON.stringify({ app, front, nginx: needsNginx(system) ? nginx : null }),
      process.version,
      ...SETTINGS.map((name) => `${name}=${process.env[name] ?? ''}`),
    ],
  )
}

const MEMORY = new URL('../../.cache/conformance.json', import.meta.url)

function remember(memory: ReadonlySet<string>): void {
  try {
    mkdirSync(new URL('.', MEMORY), { recursive: true })
    writeFileSync(MEMORY, JSON.stringify([...memory]))
  } catch {
    // A read-only checkout finds everything out each time.
  }
}
