import { oneLine } from '@startgrid/cli/text.ts'
import { checkConformance } from '@startgrid/conformance'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { appOf } from '../../experiment/cells.ts'
import type { Cell } from '../../model/result.ts'
import { linesOf, SUITE_RUNS } from '../conformance.ts'
import type { Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { startNativeServers } from './servers.ts'

/** The contract's suite on processes of this machine. */

interface SuiteOptions {
  nginx: Nginx | undefined
  signal: AbortSignal
}

/** All cells of all roles at once: the suite mostly waits. */
export async function proveNatively(
  cells: readonly Cell[],
  options: SuiteOptions,
): Promise<ReadonlyMap<string, Proof>> {
  const roles = [...Map.groupBy(cells, ({ role }) => role).values()]
  const proofs = await Promise.all(roles.map((own) => proveRole(own, options)))
  return new Map(proofs.flatMap((own) => [...own]))
}

async function proveRole(
  cells: readonly Cell[],
  { nginx, signal }: SuiteOptions,
): Promise<ReadonlyMap<string, Proof>> {
  const servers = await startNativeServers(cells, { nginx, cores: null }).catch((error: unknown) =>
    oneLine(error),
  )
  if (typeof servers === 'string') {
    const differences = [`the servers did not start: ${servers}`]
    return new Map(cells.map(({ id }) => [id, { checked: 0, differences }]))
  }
  try {
    const proofs = await Promise.all(
      cells.map(async (cell) => [cell.id, await proveCell(cell, servers, signal)] as const),
    )
    return new Map(proofs.flatMap(([id, proof]) => (proof === undefined ? [] : [[id, proof]])))
  } finally {
    await servers.stop()
  }
}

/** @returns undefined after an abort */
async function proveCell(cell: Cell, servers: Servers, signal: AbortSignal): Promise<Proof | undefined> {
  const { role, absent, runtime } = appOf(cell)
  const target = servers.target(cell)
  if (target === undefined) return { checked: 0, differences: [servers.whyMissing(cell)] }
  const proxied = cell.topology !== 'direct' || runtime === 'nginx'
  try {
    const compressed = cell.topology !== 'direct'
    const report = await checkConformance({
      target,
      role,
      absent,
      proxied,
      compressed,
      runs: SUITE_RUNS,
      signal,
    })
    return { checked: report.passed.length + report.failed.length, differences: linesOf(report) }
  } catch (error) {
    return signal.aborted ? undefined : { checked: 0, differences: [oneLine(error)] }
  }
}

/**
 * What decides the suite's verdict on an app: its files, those that all share, of NGINX and of the suite.
 * @param own paths in the repository; @param facts how it is started
 */
export function fingerprintOf(
  own: readonly string[],
  facts: readonly (string | undefined)[],
  nginx: Nginx | undefined,
): string {
  const files = [...own, 'packages/shared', 'packages/conformance/src', 'nginx', 'pnpm-lock.yaml']
  const settings = SETTINGS.map((name) => `${name}=${process.env[name] ?? ''}`)
  return fingerprint(files, [...facts, nginx?.describe(), process.version, ...settings])
}

/** Variables that apps and their runtimes read, and that the launcher passes on. */
const SETTINGS = ['TRUST_PROXY', 'SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'NODE_OPTIONS', 'BUN_OPTIONS']
