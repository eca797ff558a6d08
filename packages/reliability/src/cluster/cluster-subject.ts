import { exec } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import { type Cluster, KubernetesError } from '@startgrid/grid/kubernetes-cluster.ts'
import { APPS, type App } from '@startgrid/grid/matrix.ts'
import { until } from '../clients/waiting.ts'
import type { Outcome } from '../fault.ts'
import { startLoad, type WayTallies } from './load.ts'

/** How a person makes a node vanish and come back. */
export interface LostNode {
  readonly name: string
  readonly down: string
  readonly up: string
}

/** Images are on the nodes, but these may be busy. */
const PATIENCE_S = 300

/** Between two questions to the cluster. */
const POLL_MS = 500

/** After a fault, so that late effects are seen. */
const AFTERMATH_MS = 3_000

type Pods = Awaited<ReturnType<Cluster['pods']>>
type Pod = Pods[number]

/** A grid in a cluster, and what can be done to it. */
export class ClusterSubject {
  readonly lost: LostNode | undefined
  readonly #cluster: Cluster
  #mark: () => void = () => {}

  constructor(cluster: Cluster, lost: LostNode | undefined) {
    this.#cluster = cluster
    this.lost = lost
  }

  /** The apps that run there. @throws {KubernetesError} if none does */
  async apps(): Promise<App[]> {
    const deployments = await this.#cluster.deployments()
    const apps = APPS.filter((app) => deployments.has(serviceName(app)))
    if (apps.length === 0 || !deployments.has(FRONT_SERVICE))
      throw new KubernetesError('The grid is not running there: kubectl apply -k deploy/kubernetes/grid')
    return apps
  }

  /**
   * Puts load on apps, from a node that has no pod of them if there is one, while something is done to them.
   * @param act what is done; it resolves when the apps are whole again
   */
  async underLoad(
    apps: readonly App[],
    judge: (tallies: WayTallies) => Outcome,
    act: () => Promise<void>,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const pod = await this.#cluster.startPod('loadgen', await this.#nodeForLoad(apps))
    try {
      const load = await startLoad(this.#cluster, pod, apps)
      this.#mark = load.mark
      load.mark()
      await act()
      await sleep(AFTERMATH_MS)
      const tallies = await load.stop()
      return new Map([...tallies].map(([name, tally]) => [name, judge(tally)]))
    } finally {
      await this.#cluster.removePod(pod)
    }
  }

  /** Makes sure that the pods of an app are on different nodes, as components/spread tries. */
  async spread(apps: readonly App[]): Promise<void> {
    for (const name of [...apps.map(serviceName), FRONT_SERVICE]) {
      await this.#untilWhole(name)
      for (let tries = 0; !(await this.#isSpread(name)); tries++) {
        if (tries === 3) throw new Error(`The pods of ${name} are not on different nodes.`)
        await this.restart(name)
      }
    }
  }

  async #isSpread(name: string): Promise<boolean> {
    const nodes = (await this.#cluster.pods(name)).map(({ spec }) => spec?.nodeName)
    return nodes.length > 1 && new Set(nodes).size > 1
  }

  /** As `kubectl rollout restart` and `rollout status`; resolves when the old pods are gone. */
  async restart(name: string): Promise<void> {
    const annotations = { 'startgrid/restarted-at': new Date().toISOString() }
    await this.#cluster.patchDeployment(name, { spec: { template: { metadata: { annotations } } } })
    await this.#untilWhole(name)
  }

  async scale(name: string, replicas: number): Promise<void> {
    await this.#cluster.patchDeployment(name, { spec: { replicas } })
    await this.#untilWhole(name)
  }

  /** Kills all processes of one pod; resolves when it is ready again. */
  async kill(name: string): Promise<void> {
    const [victim] = await this.#cluster.pods(name)
    const before = restartsOf(victim)
    this.#mark()
    // The pod's own first process belongs to another user, and the shell is not sent the signal.
    await this.#cluster.run(nameOf(victim), 'app', ['sh', '-c', 'kill -9 -1'])
    await until(
      `the killed pod of ${name} has not started again`,
      async () => {
        const now = (await this.#cluster.pods(name)).find((pod) => nameOf(pod) === nameOf(victim))
        return restartsOf(now) > before && isReady(now)
      },
      PATIENCE_S,
      POLL_MS,
    )
  }

  /** As `kubectl drain`; resolves when all is running elsewhere. The node gets pods again afterwards. */
  async drain(): Promise<void> {
    const node = await this.#otherNode()
    await this.#cluster.setSchedulable(node, false)
    try {
      this.#mark()
      await until(
        `${node} is not drained`,
        async () => {
          const pods = (await this.#cluster.pods()).filter(
            ({ spec, metadata }) => spec?.nodeName === node && metadata?.deletionTimestamp === undefined,
          )
          for (const pod of pods) await this.#cluster.evict(nameOf(pod))
          return pods.length === 0
        },
        PATIENCE_S,
        POLL_MS,
      )
      await this.#untilAllWhole()
    } finally {
      await this.#cluster.setSchedulable(node, true)
    }
  }

  /** Resolves when the cluster has noticed, and some seconds have passed. The node is back afterwards. */
  async loseNode(): Promise<void> {
    const { lost } = this
    if (lost === undefined) throw new Error('No node may be lost.')
    this.#mark()
    await command(lost.down)
    try {
      await until(
        `the cluster does not notice that ${lost.name} is gone`,
        async () => !(await this.#isNodeReady(lost.name)),
        PATIENCE_S,
        POLL_MS,
      )
      await sleep(15_000)
    } finally {
      await command(lost.up)
    }
    await until(`${lost.name} is not back`, () => this.#isNodeReady(lost.name), PATIENCE_S, POLL_MS)
  }

  async #isNodeReady(name: string): Promise<boolean> {
    const node = (await this.#cluster.nodes()).find(({ metadata }) => metadata?.name === name)
    return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  }

  /** A node without a pod of these apps, if there is one. Of all apps: neither the node to lose nor the one to drain. */
  async #nodeForLoad(apps: readonly App[]): Promise<string | undefined> {
    const names = (await this.#cluster.nodes())
      .filter(({ spec }) => spec?.unschedulable !== true)
      .map(({ metadata }) => metadata?.name ?? '')
    if (apps.length > 1) return names.find((name) => name !== this.lost?.name)
    const [app] = apps
    const taken = app === undefined ? [] : await this.#cluster.pods(serviceName(app))
    return names.find((name) => !taken.some(({ spec }) => spec?.nodeName === name))
  }

  /** The last node: the load is on the first one. */
  async #otherNode(): Promise<string> {
    const [first, ...others] = (await this.#cluster.nodes()).map(({ metadata }) => metadata?.name ?? '')
    const node = others.at(-1)
    if (first === undefined || node === undefined)
      throw new Error('It needs two nodes at least: one to drain, and one for its pods.')
    return node
  }

  async #untilAllWhole(): Promise<void> {
    for (const name of (await this.#cluster.deployments()).keys()) await this.#untilWhole(name)
  }

  /** All pods are new and ready, and the old ones are gone. */
  async #untilWhole(name: string): Promise<void> {
    await until(
      `the Deployment ${name} is not complete`,
      async () => {
        const { metadata, spec, status } = await this.#cluster.deployment(name)
        const wanted = spec?.replicas ?? 1
        return (
          status?.observedGeneration === metadata?.generation &&
          status?.updatedReplicas === wanted &&
          status.availableReplicas === wanted &&
          (await this.#cluster.pods(name)).length === wanted
        )
      },
      PATIENCE_S,
      POLL_MS,
    )
  }
}

function nameOf(pod: Pod | undefined): string {
  const name = pod?.metadata?.name
  if (name === undefined) throw new Error('There is no such pod.')
  return name
}

function restartsOf(pod: Pod | undefined): number {
  return pod?.status?.containerStatuses?.[0]?.restartCount ?? 0
}

function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}

/** A person's own command line. */
async function command(line: string): Promise<void> {
  try {
    await promisify(exec)(line)
  } catch (error) {
    throw new Error(`\`${line}\` failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
