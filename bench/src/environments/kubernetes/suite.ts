import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { Cell } from '../../model/result.ts'
import type { Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { readProof } from '../suite-elsewhere.ts'
import { GENERATOR } from './pods.ts'

/** The contract's suite in the pod of a generator. */

/** At a time: each is a Node that starts, and mostly waits then. */
const AT_A_TIME = 4

export interface SuiteOptions<Spec extends Cell> {
  cluster: Cluster
  /** Name of the generator's pod. */
  pod: string
  servers: Servers
  /** What Node runs for a cell that is reached there. */
  words: (cell: Spec, url: string) => readonly string[]
  signal: AbortSignal
}

/** @returns verdicts by cell; after an abort some are missing */
export async function proveInPods<Spec extends Cell>(
  cells: readonly Spec[],
  { cluster, pod, servers, words, signal }: SuiteOptions<Spec>,
): Promise<ReadonlyMap<string, Proof>> {
  const proofs = new Map<string, Proof>()
  const open = [...cells]
  const work = async () => {
    for (let cell = open.shift(); cell !== undefined && !signal.aborted; cell = open.shift()) {
      const target = servers.target(cell)
      if (target === undefined || !('port' in target)) {
        proofs.set(cell.id, { checked: 0, differences: [servers.whyMissing(cell)] })
        continue
      }
      const command = ['node', ...words(cell, `http://${formatAddress(target)}`)]
      const { stdout, stderr } = await cluster.run(pod, GENERATOR, command)
      proofs.set(cell.id, readProof(stdout, stderr))
    }
  }
  // What runs in a pod goes on after an abort; nobody waits for it, and it ends with its pod.
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  await Promise.race([Promise.all(Array.from({ length: AT_A_TIME }, work)), aborted])
  return proofs
}
