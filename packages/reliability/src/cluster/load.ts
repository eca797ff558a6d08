import { createInterface } from 'node:readline'
import { addressInside, COMPOSE_TOPOLOGIES } from '@startgrid/grid/compose.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import type { App } from '@startgrid/grid/matrix.ts'
import { LIGHT } from '../clients/clients.ts'
import type { InPodTally, InPodTarget } from '../clients/in-pod.ts'

/** What became of the requests to one app. */
export interface WayTallies {
  readonly direct: InPodTally
  readonly nginx: InPodTally
}

/** Clients in a pod of the cluster that send requests to apps, directly and through NGINX. */
export interface ClusterLoad {
  /** Failures are timed from now on. */
  mark(): void
  /** @returns by the name of the app */
  stop(): Promise<ReadonlyMap<string, WayTallies>>
}

/** Clients of one way to an app: with many apps fewer and slower ones, because they share a pod. */
const FEW = { kept: 3, fresh: 2, pauseMs: 10, timeoutMs: 5_000 }
const MANY = { kept: 1, fresh: 1, pauseMs: 100, timeoutMs: 5_000 }

/**
 * Starts the clients, and resolves when every app has responded both ways.
 * @param pod that `Cluster.startPod` made
 * @throws {Error} with what the clients said, if they end first
 */
export async function startLoad(cluster: Cluster, pod: string, apps: readonly App[]): Promise<ClusterLoad> {
  const targets = apps.flatMap((app) =>
    COMPOSE_TOPOLOGIES.map(
      (topology): InPodTarget => ({
        ...addressInside(app, topology),
        path: LIGHT[app.role],
        ...(apps.length > 1 ? MANY : FEW),
      }),
    ),
  )
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
      return new Map(
        apps.map(({ name }, index) => {
          const [direct, nginx] = tallies.slice(2 * index)
          if (direct === undefined || nginx === undefined) throw new Error(`There is no tally of ${name}.`)
          return [name, { direct, nginx }]
        }),
      )
    },
  }
}
