import { once } from 'node:events'
import { hostname } from 'node:os'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiException,
  AppsV1Api,
  AuthorizationV1Api,
  CoordinationV1Api,
  CoreV1Api,
  Exec,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Deployment,
  type V1Lease,
  V1MicroTime,
  type V1Node,
  type V1Pod,
  type V1Status,
  VersionApi,
} from '@kubernetes/client-node'
import { exists } from '@startgrid/machine/processes.ts'
import { ask, askToDelete, explain, KubernetesError } from './kubernetes-error.ts'

/** What an account may have to do in the namespace, or, without one, in the whole cluster. */
export interface Permission {
  readonly verb: string
  /** `pods`, or `pods/exec` */
  readonly resource: string
  /** The API group; default the core group. */
  readonly group?: string
  readonly everywhere?: boolean
}

/** Which process made a pod, so that a later one removes what a killed one left. */
const OWNER = 'startgrid/owner'

const NAME = 'app.kubernetes.io/name'
const PART_OF = 'app.kubernetes.io/part-of=startgrid'

export interface Command {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A command that runs in a pod. */
export interface Running {
  readonly stdin: PassThrough
  readonly stdout: Readable
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  readonly stderr: Promise<string>
}

/** A namespace of a Kubernetes cluster to which deploy/kubernetes was applied. */
export class Cluster {
  readonly namespace: string
  readonly #core: CoreV1Api
  readonly #apps: AppsV1Api
  readonly #leases: CoordinationV1Api
  readonly #config: KubeConfig
  readonly #exec: Exec
  #made = 0

  /** @throws {KubernetesError} if there is no kubeconfig, or it has no such context */
  constructor(namespace: string, context?: string) {
    const config = new KubeConfig()
    config.loadFromDefault()
    if (context !== undefined) {
      if (!config.getContexts().some(({ name }) => name === context))
        throw new KubernetesError(`The kubeconfig has no context '${context}'.`)
      config.setCurrentContext(context)
    } else if (config.getCurrentContext() === 'loaded-context')
      throw new KubernetesError('No cluster is configured: set KUBECONFIG, or write ~/.kube/config.')
    this.namespace = namespace
    this.#core = config.makeApiClient(CoreV1Api)
    this.#apps = config.makeApiClient(AppsV1Api)
    this.#leases = config.makeApiClient(CoordinationV1Api)
    this.#config = config
    this.#exec = new Exec(config)
  }

  /** Such as `v1.34.1`. */
  async version(): Promise<string> {
    const api = this.#config.makeApiClient(VersionApi)
    return (await ask('ask for the version', () => api.getCode())).gitVersion
  }

  /** Which of these are missing. Everybody may ask that of oneself. */
  async missing(permissions: readonly Permission[]): Promise<Permission[]> {
    const api = this.#config.makeApiClient(AuthorizationV1Api)
    const allowed = await Promise.all(
      permissions.map(async ({ verb, resource: path, group = '', everywhere = false }) => {
        const [resource = '', subresource] = path.split('/')
        const resourceAttributes = {
          ...{ verb, group, resource },
          ...(subresource !== undefined && { subresource }),
          ...(!everywhere && { namespace: this.namespace }),
        }
        const { status } = await ask('ask what we may do', () =>
          api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } }),
        )
        return status?.allowed === true
      }),
    )
    return permissions.filter((_, index) => !allowed[index])
  }

  /** The Deployments of the apps and of NGINX, by name. */
  async deployments(): Promise<Map<string, V1Deployment>> {
    const { namespace } = this
    const { items } = await ask('list Deployments', () =>
      this.#apps.listNamespacedDeployment({ namespace, labelSelector: PART_OF }),
    )
    return new Map(items.map((one) => [one.metadata?.name ?? '', one]))
  }

  deployment(name: string): Promise<V1Deployment> {
    const { namespace } = this
    return ask('read Deployments', () => this.#apps.readNamespacedDeployment({ name, namespace }))
  }

  /** @param patch a JSON merge patch (RFC 7396) */
  async patchDeployment(name: string, patch: object): Promise<void> {
    const { namespace } = this
    await ask('change Deployments', () =>
      this.#apps.patchNamespacedDeployment({ name, namespace, body: patch }, MERGE),
    )
  }

  /** The pods of an app, of NGINX, or of all. */
  pods(name?: string): Promise<V1Pod[]> {
    return this.podsWith(name === undefined ? PART_OF : `${NAME}=${name}`)
  }

  async podsWith(labelSelector: string): Promise<V1Pod[]> {
    const { namespace } = this
    const { items } = await ask('list pods', () => this.#core.listNamespacedPod({ namespace, labelSelector }))
    return items
  }

  async nodes(): Promise<V1Node[]> {
    return (await ask('list nodes', () => this.#core.listNode())).items
  }

  /** Whether new pods may be scheduled to the node. */
  async setSchedulable(name: string, schedulable: boolean): Promise<void> {
    await ask('change nodes', () =>
      this.#core.patchNode({ name, body: { spec: { unschedulable: schedulable ? null : true } } }, MERGE),
    )
  }

  /** @returns whether the disruption budget allows it now */
  async evict(name: string): Promise<boolean> {
    const { namespace } = this
    try {
      await this.#core.createNamespacedPodEviction({
        name,
        namespace,
        body: { metadata: { name, namespace } },
      })
      return true
    } catch (error) {
      if (error instanceof ApiException && error.code === 429) return false
      if (error instanceof ApiException && error.code === 404) return true
      throw explain('evict pods', error)
    }
  }

  /**
   * Starts a pod from the PodTemplate of deploy/kubernetes/grid, and waits until commands can run in it.
   * @param node the only node that it may run on
   * @returns its name
   */
  async startPod(template: string, node?: string): Promise<string> {
    const { namespace } = this
    await this.#removeOrphans()
    const { template: spec } = await ask(`read the PodTemplate ${template}`, () =>
      this.#core.readNamespacedPodTemplate({ name: template, namespace }),
    )
    const name = `${template}-${process.pid}-${(this.#made++).toString(36)}${Date.now().toString(36)}`
    const body: V1Pod = {
      ...spec,
      metadata: { ...spec?.metadata, name, annotations: { [OWNER]: `${process.pid}@${hostname()}` } },
    }
    if (body.spec !== undefined && node !== undefined)
      body.spec.nodeSelector = { 'kubernetes.io/hostname': node }
    await ask('create pods', () => this.#core.createNamespacedPod({ namespace, body }))
    try {
      await this.#untilReady(name)
    } catch (error) {
      await this.removePod(name)
      throw error
    }
    return name
  }

  async #untilReady(name: string): Promise<void> {
    const { namespace } = this
    for (const deadline = Date.now() + 180_000; ; await sleep(250)) {
      const { status } = await ask('read pods', () => this.#core.readNamespacedPod({ name, namespace }))
      if (status?.phase === 'Running') return
      const waiting = status?.containerStatuses?.[0]?.state?.waiting
      const pending = status?.conditions?.find(({ status }) => status === 'False')
      const why = waiting?.message ?? waiting?.reason ?? pending?.message ?? 'no reason is known'
      if (Date.now() > deadline || /^(?:ErrImage|ImagePull|InvalidImage)/.test(waiting?.reason ?? ''))
        throw new KubernetesError(`The pod ${name} does not start: ${why}.`)
    }
  }

  pod(name: string): Promise<V1Pod> {
    const { namespace } = this
    return ask('read pods', () => this.#core.readNamespacedPod({ name, namespace }))
  }

  /** @param dryRun only whether the cluster would let us, with the pod as it would be */
  createPod(body: V1Pod, { dryRun = false } = {}): Promise<V1Pod> {
    const { namespace } = this
    const request = { namespace, body, ...(dryRun && { dryRun: 'All' }) }
    return ask('create pods', () => this.#core.createNamespacedPod(request))
  }

  createLease(body: V1Lease): Promise<V1Lease> {
    const { namespace } = this
    return ask('create leases', () => this.#leases.createNamespacedLease({ namespace, body }))
  }

  async leases(labelSelector: string): Promise<V1Lease[]> {
    const { namespace } = this
    const { items } = await ask('list leases', () =>
      this.#leases.listNamespacedLease({ namespace, labelSelector }),
    )
    return items
  }

  /** Says that its holder is alive. */
  async renewLease(name: string): Promise<void> {
    const { namespace } = this
    const body = { spec: { renewTime: new V1MicroTime() } }
    await ask('change leases', () => this.#leases.patchNamespacedLease({ name, namespace, body }, MERGE))
  }

  /** The cluster then also removes the objects that the lease owns. */
  async removeLease(name: string): Promise<void> {
    const { namespace } = this
    const request = { name, namespace, propagationPolicy: 'Background' }
    await askToDelete('leases', () => this.#leases.deleteNamespacedLease(request))
  }

  /** @param graceSeconds until its processes are killed; with 0 the pod is gone before they are */
  async removePod(name: string, graceSeconds = 0): Promise<void> {
    const { namespace } = this
    await askToDelete('pods', () =>
      this.#core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: graceSeconds }),
    )
  }

  /** Pods of processes of this machine that are over. Those of other machines are not ours to judge. */
  async #removeOrphans(): Promise<void> {
    for (const { metadata } of await this.pods()) {
      const [pid, host] = metadata?.annotations?.[OWNER]?.split('@') ?? []
      if (host === hostname() && !exists(Number(pid))) await this.removePod(metadata?.name ?? '')
    }
  }

  /** Runs a command in the first container of a pod, until it ends. */
  async run(pod: string, container: string, command: readonly string[]): Promise<Command> {
    const running = await this.start(pod, container, command)
    const [stdout, stderr, code] = await Promise.all([text(running.stdout), running.stderr, running.ended])
    return { code, stdout, stderr }
  }

  /** Starts a command in a pod. It ends with its standard input if it reads that. */
  async start(pod: string, container: string, command: readonly string[]): Promise<Running> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const { promise: ended, resolve } = Promise.withResolvers<number>()
    const onStatus = (status: V1Status) => resolve(exitCodeOf(status))
    const socket = await ask('run commands in pods', () =>
      this.#exec.exec(this.namespace, pod, container, [...command], stdout, stderr, stdin, false, onStatus),
    )
    // Without a status before it, the connection was lost.
    void once(socket, 'close').then(() => {
      stdout.end()
      stderr.end()
      resolve(-1)
    })
    return { stdin, stdout, ended, stderr: text(stderr) }
  }
}

const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

function exitCodeOf({ status, details }: V1Status): number {
  if (status === 'Success') return 0
  const cause = details?.causes?.find(({ reason }) => reason === 'ExitCode')
  return cause === undefined ? -1 : Number(cause.message)
}
