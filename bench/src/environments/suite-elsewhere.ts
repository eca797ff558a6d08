import { oneLine } from '@startgrid/cli/text.ts'
import type { Capability, Report } from '@startgrid/conformance'
import type { Role } from '@startgrid/grid/apps.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import { formatAddress } from '@startgrid/nginx/address.ts'
import { appOf } from '../experiment/cells.ts'
import type { Cell } from '../model/result.ts'
import { proofOf, SUITE_RUNS } from './conformance.ts'
import type { Proof } from './environment.ts'

/** The contract's suite as a program in the image of the generator, where names and addresses of servers are known. */

/** What Node runs there. @param url where the cell is reached */
export function suiteWords(cell: Cell, url: string): string[] {
  const { role, absent, runtime } = appOf(cell)
  const isProxied = cell.topology !== 'direct'
  const words = suiteProgram(url, { role, absent, proxied: isProxied || runtime === 'nginx' })
  return isProxied ? [...words, '--compressed'] : words
}

/** @param absent what the app lacks */
export function suiteProgram(
  url: string,
  { role, proxied, absent }: { role: Role; proxied: boolean; absent: readonly Capability[] },
): string[] {
  return [
    ...['packages/conformance/src/cli.ts', role, url],
    ...['--json', '--runs', String(SUITE_RUNS)],
    ...(proxied ? ['--proxied'] : []),
    ...absent.flatMap((capability) => ['--without', capability]),
  ]
}

/** What the suite printed; without a report, what it complained of. */
export function readProof(stdout: string, stderr: string): Proof {
  try {
    return proofOf(JSON.parse(stdout) as Report)
  } catch {
    const reason = oneLine(stderr.trim().split('\n').at(-1) || 'it ended without a report')
    return { checked: 0, differences: [`the suite did not run: ${reason}`] }
  }
}

/** @throws {Error} for a socket, which nobody can reach from another container */
export function urlOf(target: Target): string {
  if (!('port' in target)) throw new Error('containers have no socket in common')
  return `http://${formatAddress(target)}`
}
