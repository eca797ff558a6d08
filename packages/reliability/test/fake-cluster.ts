import { PassThrough } from 'node:stream'
import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import type { Command, Running } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { InPodTally } from '../src/clients/in-pod.ts'
import type { ClusterApi } from '../src/cluster/cluster-subject.ts'

type Deployment = Awaited<ReturnType<ClusterApi['deployment']>>
type Pod = Awaited<ReturnType<ClusterApi['pods']>>[number]
type Node = Awaited<ReturnType<ClusterApi['nodes']>>[number]

const FINE: InPodTally = {
  responded: 500,
  shed: 0,
  crossed: 0,
  failures: [],
  lastFailureMs: null,
  lastedMs: 60_000,
}

export interface Behaviour {
  readonly direct?: Partial<InPodTally>
  readonly nginx?: Partial<InPodTally>
  /** New pods do not become ready, killed ones do not start again, nobody notices that a node is away, and no pod may be evicted. */
  readonly isStuck?: boolean
  /** The method for which a permission is missing. */
  readonly forbidden?: 'patchDeployment' | 'setSchedulable' | 'evict' | 'run' | 'start' | 'startPod' | 'nodes'
}

/** Three nodes, with two pods of each app and of NGINX. What is done to it is done at once. */
export class FakeCluster implements ClusterApi {
  readonly namespace = 'test'
  /** What was done to it, in order. */
  readonly did: string[] = []
  readonly #behaviour: Behaviour
  readonly #isAway: () => boolean
  readonly #pods = new Map<string, Pod[]>()
  readonly #cordoned = new Set<string>()
  #clients: Pod[] = []
  #made = 0

  /** @param isAway whether node3 is away */
  constructor(apps: readonly App[], behaviour: Behaviour = {}, isAway = () => false) {
    this.#behaviour = behaviour
    this.#isAway = isAway
    for (const name of [...apps.map(serviceName), FRONT_SERVICE]) this.#fill(name, [], 2)
  }

  #isStuck(): boolean {
    return this.#behaviour.isStuck === true
  }

  #allow(method: Behaviour['forbidden']): void {
    if (this.#behaviour.forbidden === method)
      throw new KubernetesError(`The cluster does not let us ${method}: you may not.`)
  }

  /** Pods go to the nodes in turn. */
  #fill(name: string, kept: Pod[], count: number): void {
    const nodes = ['node1', 'node2', 'node3'].filter((node) => !this.#cordoned.has(node))
    while (kept.length < count) {
      const nodeName = nodes[++this.#made % nodes.length] ?? 'none'
      kept.push({
        metadata: { name: `${name}-${this.#made}` },
        spec: { nodeName, containers: [] },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      })
    }
    this.#pods.set(name, kept.slice(0, count))
  }

  async deployments(): Promise<Map<string, Deployment>> {
    return new Map(
      await Promise.all(
        [...this.#pods.keys()].map(async (name) => [name, await this.deployment(name)] as const),
      ),
    )
  }

  async deployment(name: string): Promise<Deployment> {
    const replicas = this.#pods.get(name)?.length ?? 0
    const isUpdated = !(this.#isStuck() && this.did.some((one) => one.includes(name)))
    return {
      metadata: { generation: 2 },
      spec: { replicas, selector: {}, template: {} },
      status: {
        observedGeneration: 2,
        updatedReplicas: isUpdated ? replicas : 0,
        availableReplicas: replicas,
      },
    }
  }

  async patchDeployment(name: string, patch: { spec?: { replicas?: number } }): Promise<void> {
    this.#allow('patchDeployment')
    const replicas = patch.spec?.replicas
    this.did.push(replicas === undefined ? `restart ${name}` : `scale ${name} to ${replicas}`)
    if (replicas === undefined) this.#fill(name, [], this.#pods.get(name)?.length ?? 0)
    else this.#fill(name, [...(this.#pods.get(name) ?? [])], replicas)
  }

  async pods(name?: string): Promise<Pod[]> {
    if (name === 'loadgen') return this.#clients
    return name === undefined ? [...this.#pods.values(), this.#clients].flat() : (this.#pods.get(name) ?? [])
  }

  async nodes(): Promise<Node[]> {
    this.#allow('nodes')
    return ['node1', 'node2', 'node3'].map((name) => {
      const isReady = this.#isStuck() || name !== 'node3' || !this.#isAway()
      return {
        metadata: { name },
        spec: { unschedulable: this.#cordoned.has(name) },
        status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }] },
      }
    })
  }

  async setSchedulable(name: string, schedulable: boolean): Promise<void> {
    this.#allow('setSchedulable')
    this.did.push(schedulable ? `uncordon ${name}` : `cordon ${name}`)
    if (schedulable) this.#cordoned.delete(name)
    else this.#cordoned.add(name)
  }

  async evict(name: string): Promise<boolean> {
    this.#allow('evict')
    if (this.#isStuck()) return false
    for (const [app, pods] of this.#pods) {
      const others = pods.filter(({ metadata }) => metadata?.name !== name)
      if (others.length < pods.length) this.#fill(app, others, pods.length)
    }
    this.did.push(`evict ${name}`)
    return true
  }

  async startPod(template: string, node?: string): Promise<string> {
    this.#allow('startPod')
    this.did.push(`start ${template} on ${node}`)
    this.#clients = [{ metadata: { name: template }, spec: { nodeName: node ?? 'node1', containers: [] } }]
    return template
  }

  async removePod(name: string): Promise<void> {
    this.did.push(`remove ${name}`)
    this.#clients = []
  }

  async run(pod: string, _container: string, command: readonly string[]): Promise<Command> {
    this.#allow('run')
    this.did.push(`${command.at(-1)} in ${pod}`)
    const found = (await this.pods()).find(({ metadata }) => metadata?.name === pod)
    if (found?.status !== undefined && !this.#isStuck())
      found.status.containerStatuses = [{ name: 'app', restartCount: 1, image: '', imageID: '', ready: true }]
    return { code: 137, stdout: '', stderr: '' }
  }

  /** Clients that have their tallies already: those of even targets go directly, the others through NGINX. */
  async start(_pod: string, _container: string, command: readonly string[]): Promise<Running> {
    this.#allow('start')
    const { direct, nginx } = this.#behaviour
    const targets: unknown[] = JSON.parse(command.at(-1) ?? '')
    const tallies = targets.map((_, index) => ({ ...FINE, ...(index % 2 === 0 ? direct : nginx) }))
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    stdout.write('ready\n')
    stdin.on('data', (data) => {
      if (String(data).includes('stop')) stdout.end(`${JSON.stringify(tallies)}\n`)
    })
    return { stdin, stdout, ended: Promise.resolve(0), stderr: Promise.resolve('') }
  }
}
