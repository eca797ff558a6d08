import { createInterface } from 'node:readline'
import type { App } from '@startgrid/grid/apps.ts'
import { addressInside, COMPOSE_TOPOLOGIES } from '@startgrid/grid/compose.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { LIGHT } from '../clients/clients.ts'
import type { InPodTally, InPodTarget } from '../clients/in-pod.ts'

/** Clients in a pod of the cluster. */
interface ClusterLoad {
  /** Failures are timed from now on. */
  mark(): void
  /** @returns a tally per target, in the order of the targets */
  stop(): Promise<InPodTally[]>
}

/**
 * Clients of one way to an app. The pause makes about 100 requests per second out of them, so that apps, proxy and clients fit on two cores.
 * With many apps there are fewer clients with longer pauses, because they share a pod.
 */
const FEW = { kept: 3, fresh: 2, pauseMs: 50, timeoutMs: 5_000 }
const MANY = { kept: 1, fresh: 1, pauseMs: 250, timeoutMs: 5_000 }

/** Each app in turn, directly and through NGINX. */
export function targetsOf(apps: readonly App[]): InPodTarget[] {
  return apps.flatMap((app) =>
    COMPOSE_TOPOLOGIES.map((topology) => ({
      ...addressInside(app, topology),
      path: LIGHT[app.role],
      ...(apps.length > 1 ? MANY : FEW),
    })),
  )
}

/**
 * Starts the clients, and resolves when every target has responded.
 * @param pod that `Cluster.startPod` made
 * @throws {Error} with what the clients said, if they end first
 */
export async function startLoad(
  cluster: Pick<Cluster, 'start'>,
  pod: string,
  targets: readonly InPodTarget[],
): Promise<ClusterLoad> {
  const program = 'packages/reliability/src/clients/in-pod.ts'
  const running = await cluster.start(pod, 'loadgen', ['node', program, JSON.stringify(targets)])
  const lines = createInterface(running.stdout)[Symbol.asyncIterator]()
  const read = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done !== true) return value
    throw new Error(`The clients in the pod ended: ${(await running.stderr).trim() || 'no reason is known'}`)
  }
  await read()
  return {
    mark: () => void running.stdin.write('mark\n'),
    async stop() {
      running.stdin.write('stop\n')
      const tallies = JSON.parse(await read()) as InPodTally[]
      running.stdin.end()
      return tallies
    },
  }
}
