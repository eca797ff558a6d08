import { exec } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { until } from '@startgrid/cli/until.ts'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { InPodTally } from '../clients/in-pod.ts'
import type { Outcome } from '../fault.ts'
import { startLoad, targetsOf } from './load.ts'

/** How a person makes a node vanish and come back. */
export interface LostNode {
  readonly name: string
  readonly down: string
  readonly up: string
}

/** What became of the requests to one app. */
export interface WayTallies {
  readonly direct: InPodTally
  readonly nginx: InPodTally
}

/** How long things may take. Images are on the nodes, but these may be busy. */
const TIMES = {
  patienceS: 300,
  /** Between two questions to the cluster. */
  pollMs: 500,
  /** After a fault, so that late effects are seen. */
  aftermathMs: 3_000,
  /** After the cluster noticed that a node is gone: for as long as its name server may keep the addresses there, and 10 s without failures. */
  withoutNodeMs: 45_000,
  /** After a pod became ready, until NGINX has its address: name servers keep what they said before for 30 s. */
  namedAfterMs: 35_000,
}

type Pods = Awaited<ReturnType<Cluster['pods']>>
type Pod = Pods[number]

/** What a subject needs of a cluster. */
export type ClusterApi = Omit<Cluster, OfRuns>

/** What the benchmark alone needs. */
type OfRuns =
  | 'version'
  | 'missing'
  | 'podsWith'
  | 'pod'
  | 'createPod'
  | 'createService'
  | 'removeService'
  | `${'create' | 'renew' | 'remove'}Lease`
  | 'leases'

/** A grid in a cluster, and what can be done to it. */
export class ClusterSubject {
  readonly lost: LostNode | undefined
  readonly #cluster: ClusterApi
  readonly #times: typeof TIMES

  /** @param times for tests */
  constructor(cluster: ClusterApi, lost?: LostNode, times = TIMES) {
    this.#cluster = cluster
    this.lost = lost
    this.#times = times
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
   * @param act what is done; it resolves when the apps are whole again. It may set the time from which failures are counted, once more
   */
  async underLoad(
    apps: readonly App[],
    judge: (tallies: WayTallies) => Outcome,
    act: (mark: () => void) => Promise<void>,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const pod = await this.#cluster.startPod('loadgen', await this.#nodeForLoad(apps))
    try {
      const load = await startLoad(this.#cluster, pod, targetsOf(apps))
      load.mark()
      await act(load.mark)
      await sleep(this.#times.aftermathMs)
      const tallies = await load.stop()
      return new Map(
        apps.map(({ name }, index) => {
          const [direct, nginx] = tallies.slice(2 * index)
          if (direct === undefined || nginx === undefined) throw new Error(`There is no tally of ${name}.`)
          return [name, judge({ direct, nginx })]
        }),
      )
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
    const nodes = nodesOf(await this.#cluster.pods(name))
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

  /** Resolves when NGINX has had the time to learn of all pods of these apps. */
  async untilNamed(apps: readonly App[]): Promise<void> {
    const pods = await Promise.all(apps.map((app) => this.#cluster.pods(serviceName(app))))
    const leftMs = pods.flat().map((pod) => readySince(pod) + this.#times.namedAfterMs - Date.now())
    // The clocks of this machine and of the cluster may differ.
    await sleep(Math.min(this.#times.namedAfterMs, Math.max(0, ...leftMs)))
  }

  /** Kills all processes of one pod; resolves when it is ready again. */
  async kill(name: string, mark: () => void): Promise<void> {
    const [victim] = await this.#cluster.pods(name)
    const before = restartsOf(victim)
    mark()
    // The pod's own first process belongs to another user, and the shell is not sent the signal.
    await this.#cluster.run(nameOf(victim), 'app', ['sh', '-c', 'kill -9 -1'])
    await this.#until(`the killed pod of ${name} has not started again`, async () => {
      const now = (await this.#cluster.pods(name)).find((pod) => nameOf(pod) === nameOf(victim))
      return restartsOf(now) > before && isReady(now)
    })
  }

  /** As `kubectl drain`; resolves when all is running elsewhere. The node gets pods again afterwards. */
  async drain(mark: () => void): Promise<void> {
    const node = await this.#nodeToDrain()
    await this.#cluster.setSchedulable(node, false)
    try {
      mark()
      await this.#until(`${node} is not drained`, async () => {
        const pods = (await this.#cluster.pods()).filter(
          ({ spec, metadata }) => spec?.nodeName === node && metadata?.deletionTimestamp === undefined,
        )
        for (const pod of pods) await this.#cluster.evict(nameOf(pod))
        return pods.length === 0
      })
      await this.#untilAllWhole()
    } finally {
      await this.#cluster.setSchedulable(node, true)
    }
  }

  /**
   * Makes sure that a pod of each app is on the node to lose; otherwise its loss would show nothing. The scheduler avoids that node while
   * others have room, so for a while it is the only one that gets pods.
   */
  async occupyLostNode(apps: readonly App[]): Promise<void> {
    const node = this.lost?.name
    const isThere = async (name: string) => nodesOf(await this.#cluster.pods(name)).includes(node)
    const names = apps.map(serviceName)
    const present = await Promise.all(names.map(isThere))
    const missing = names.filter((_, index) => !present[index])
    const [first] = missing
    if (first === undefined) return
    const schedulable = await this.#schedulableNodes()
    if (!schedulable.some((name) => name === node)) throw new Error(`No pod of ${first} is on ${node}.`)
    const others = schedulable.filter((name) => name !== node)
    try {
      for (const other of others) await this.#cluster.setSchedulable(other, false)
      await Promise.all(
        missing.map(async (name) => {
          const [pod] = await this.#cluster.pods(name)
          await this.#until(`no pod of ${name} may be evicted`, () => this.#cluster.evict(nameOf(pod)))
          await this.#until(`no pod of ${name} is on ${node}`, () => isThere(name))
          await this.#untilWhole(name)
        }),
      )
    } finally {
      await Promise.all(others.map((other) => this.#cluster.setSchedulable(other, true)))
    }
  }

  /** Resolves when the cluster has noticed, and some seconds have passed. The node is back afterwards. */
  async loseNode(mark: () => void): Promise<void> {
    const { lost } = this
    if (lost === undefined) throw new Error('No node may be lost.')
    mark()
    await command(lost.down)
    try {
      await this.#until(
        `the cluster does not notice that ${lost.name} is gone`,
        async () => !(await this.#isNodeReady(lost.name)),
      )
      await sleep(this.#times.withoutNodeMs)
    } finally {
      await command(lost.up)
    }
    await this.#until(`${lost.name} is not back`, () => this.#isNodeReady(lost.name))
  }

  async #isNodeReady(name: string): Promise<boolean> {
    const node = (await this.#cluster.nodes()).find(({ metadata }) => metadata?.name === name)
    return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  }

  /** Not the node to lose. For one app, a node without a pod of it, if there is one. */
  async #nodeForLoad(apps: readonly App[]): Promise<string | undefined> {
    const names = (await this.#schedulableNodes()).filter((name) => name !== this.lost?.name)
    const [app, ...others] = apps
    const pods = app === undefined || others.length > 0 ? [] : await this.#cluster.pods(serviceName(app))
    const taken = nodesOf(pods)
    return names.find((name) => !taken.includes(name)) ?? names[0]
  }

  /** The names of the nodes that get new pods. */
  async #schedulableNodes(): Promise<string[]> {
    return (await this.#cluster.nodes())
      .filter(({ spec }) => spec?.unschedulable !== true)
      .flatMap(({ metadata }) => metadata?.name ?? [])
  }

  /** The node with the most pods, but not the one where the clients are. */
  async #nodeToDrain(): Promise<string> {
    const withClients = nodesOf(await this.#cluster.pods('loadgen'))
    const taken = nodesOf(await this.#cluster.pods())
    const podsOn = (name: string) => taken.filter((node) => node === name).length
    const [node] = (await this.#cluster.nodes())
      .flatMap(({ metadata }) => metadata?.name ?? [])
      .filter((name) => !withClients.includes(name))
      .sort((a, b) => podsOn(b) - podsOn(a))
    if (node === undefined || podsOn(node) === 0)
      throw new Error(
        'It needs two nodes with pods of the apps at least: one to drain, and one for the clients.',
      )
    return node
  }

  async #untilAllWhole(): Promise<void> {
    for (const name of (await this.#cluster.deployments()).keys()) await this.#untilWhole(name)
  }

  /** All pods are new and ready, and the old ones are gone. */
  async #untilWhole(name: string): Promise<void> {
    await this.#until(`the Deployment ${name} is not complete`, async () => {
      const { metadata, spec, status } = await this.#cluster.deployment(name)
      const wanted = spec?.replicas ?? 1
      return (
        status?.observedGeneration === metadata?.generation &&
        status?.updatedReplicas === wanted &&
        status.availableReplicas === wanted &&
        (await this.#cluster.pods(name)).length === wanted
      )
    })
  }

  #until(what: string, check: () => Promise<boolean>): Promise<void> {
    return until(what, check, this.#times.patienceS, this.#times.pollMs)
  }
}

function nameOf(pod: Pod | undefined): string {
  const name = pod?.metadata?.name
  if (name === undefined) throw new Error('There is no such pod.')
  return name
}

function nodesOf(pods: Pods): (string | undefined)[] {
  return pods.map(({ spec }) => spec?.nodeName)
}

function restartsOf(pod: Pod | undefined): number {
  return pod?.status?.containerStatuses?.[0]?.restartCount ?? 0
}

function isReady(pod: Pod | undefined): boolean {
  return readiness(pod)?.status === 'True'
}

/** Milliseconds since 1970; 0 if the cluster does not say it. */
function readySince(pod: Pod): number {
  return readiness(pod)?.lastTransitionTime?.getTime() ?? 0
}

function readiness(pod: Pod | undefined) {
  return pod?.status?.conditions?.find(({ type }) => type === 'Ready')
}

/** A person's own command line. */
async function command(line: string): Promise<void> {
  try {
    await promisify(exec)(line)
  } catch (error) {
    throw new Error(`\`${line}\` failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
