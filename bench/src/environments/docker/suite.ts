import { formatAddress } from '@startgrid/nginx/address.ts'
import type { Cell } from '../../model/result.ts'
import type { Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { readProof, suiteWords } from '../suite-elsewhere.ts'
import { runDocker } from './command.ts'
import { GENERATOR_IMAGE } from './generator.ts'
import { type DockerRun, labelOptions } from './run.ts'

/** The contract's suite in containers of its own, where the names of services have addresses. */

/** At a time: each is a Node that starts, and mostly waits then. */
const AT_A_TIME = 4

const LIMIT_MS = 120_000

interface SuiteOptions {
  run: DockerRun
  servers: Servers
  signal: AbortSignal
}

/** @returns verdicts by cell; after an abort some are missing */
export async function proveCellsInside(
  cells: readonly Cell[],
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
async function proveCell(cell: Cell, { run, servers, signal }: SuiteOptions): Promise<Proof | undefined> {
  const target = servers.target(cell)
  if (target === undefined || !('port' in target))
    return { checked: 0, differences: [servers.whyMissing(cell)] }
  const words = [
    '--entrypoint',
    'node',
    GENERATOR_IMAGE,
    ...suiteWords(cell, `http://${formatAddress(target)}`),
  ]
  const { stdout, stderr } = await runDocker(
    ['run', '--rm', '--pull', 'never', '--network', run.name, ...labelOptions(run), ...words],
    { signal, limitMs: LIMIT_MS },
  )
  return signal.aborted ? undefined : readProof(stdout, stderr)
}
