import { oneLine } from '@startgrid/cli/text.ts'
import type { Report } from '@startgrid/conformance'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { CellSpec } from '../../model/result.ts'
import { appOf } from '../../plan/cells.ts'
import { linesOf, SUITE_RUNS } from '../conformance.ts'
import type { Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { lastLine, runDocker } from './command.ts'
import { GENERATOR_IMAGE } from './generator.ts'
import { type DockerRun, labelOptions } from './run.ts'

/** The contract's suite in containers of its own, where the names of services have addresses. */

/** At a time: each is a Node that starts, and mostly waits then. */
const AT_A_TIME = 4

const LIMIT_MS = 120_000

export interface SuiteOptions {
  run: DockerRun
  servers: Servers
  signal: AbortSignal
}

/** @returns verdicts by cell; after an abort some are missing */
export async function proveCellsInside(
  cells: readonly CellSpec[],
  options: SuiteOptions,
): Promise<ReadonlyMap<string, Proof>> {
  const proofs = new Map<string, Proof>()
  const open = [...cells]
  const work = async () => {
    for (let cell = open.shift(); cell !== undefined && !options.signal.aborted; cell = open.shift()) {
      const proof = await proveCell(cell, options)
      if (proof !== undefined) proofs.set(cell.id, proof)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return proofs
}

/** @returns undefined after an abort */
async function proveCell(cell: CellSpec, { run, servers, signal }: SuiteOptions): Promise<Proof | undefined> {
  const target = servers.target(cell)
  if (target === undefined || !('port' in target))
    return { checked: 0, differences: [servers.whyMissing(cell)] }
  const words = suiteWords(cell, `http://${formatAddress(target)}`)
  const { stdout, stderr } = await runDocker(
    ['run', '--rm', '--pull', 'never', '--network', run.name, ...labelOptions(run), ...words],
    { signal, limitMs: LIMIT_MS },
  )
  return signal.aborted ? undefined : readProof(stdout, stderr)
}

function suiteWords(cell: CellSpec, url: string): string[] {
  const { role, absent, framework } = appOf(cell)
  const proxied = cell.topology !== 'direct' || framework === 'njs'
  return [
    ...['--entrypoint', 'node', GENERATOR_IMAGE, 'packages/conformance/src/cli.ts', role, url],
    ...['--json', '--runs', String(SUITE_RUNS)],
    ...(proxied ? ['--proxied'] : []),
    ...(cell.topology === 'direct' ? [] : ['--compressed']),
    ...absent.flatMap((capability) => ['--without', capability]),
  ]
}

/** What the suite printed; without a report, what it complained of. */
export function readProof(stdout: string, stderr: string): Proof {
  try {
    const report = JSON.parse(stdout) as Report
    return { checked: report.passed.length + report.failed.length, differences: linesOf(report) }
  } catch {
    const reason = oneLine(lastLine(stderr) || 'it ended without a report')
    return { checked: 0, differences: [`the suite did not run: ${reason}`] }
  }
}
