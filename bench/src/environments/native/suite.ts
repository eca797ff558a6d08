import { checkConformance } from '@startgrid/conformance'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { appOf } from '../../experiment/cells.ts'
import type { Cell } from '../../model/result.ts'
import { proofOf, proveStarted, SUITE_RUNS } from '../conformance.ts'
import type { Proof } from '../environment.ts'
import { startNativeServers } from './servers.ts'

/** The contract's suite on processes of this machine. */

interface SuiteOptions {
  nginx: Nginx | undefined
  signal: AbortSignal
}

/** All cells of all roles at once: the suite mostly waits. */
export async function proveNatively(
  cells: readonly Cell[],
  { nginx, signal }: SuiteOptions,
): Promise<ReadonlyMap<string, Proof>> {
  const roles = [...Map.groupBy(cells, ({ role }) => role).values()]
  const proofs = await Promise.all(
    roles.map((own) =>
      proveStarted(own, {
        start: (some) => startNativeServers(some, { nginx, cores: null }),
        prove: async (cell, target) => {
          const { role, absent, runtime } = appOf(cell)
          const compressed = cell.topology !== 'direct'
          const subject = { target, role, absent, compressed, proxied: compressed || runtime === 'nginx' }
          return proofOf(await checkConformance({ ...subject, runs: SUITE_RUNS, signal }))
        },
        signal,
        atOnce: own.length,
      }),
    ),
  )
  return new Map(proofs.flatMap((own) => [...own]))
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
