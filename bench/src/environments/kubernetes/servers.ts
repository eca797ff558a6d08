import { oneLine } from '@startgrid/cli/text.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { ContainerAccount } from '@startgrid/machine/agent/messages.ts'
import type { Cell, ClusterRecord, LaunchRecord } from '../../model/result.ts'
import type { EndAccount, Servers } from '../servers.ts'
import type { Agent } from './agent.ts'
import { describeEnd, type StartedPod, stopPod } from './start.ts'

/** A pod of servers, and the agent in it. */
export interface ServerPod {
  started: StartedPod
  agent: Agent
}

/** The containers of a cell, by name. A pod of it may have both or one of them. */
export interface CellParts {
  app: string
  proxy: string | null
}

export interface KubernetesServersOptions {
  cluster: Cluster
  /** One for all servers of a heat; several where an app has replicas. */
  pods: readonly ServerPod[]
  /** @throws {Error} if it is not of this heat */
  partsOf(cell: Cell): CellParts
  /** Where the generators reach a cell whose containers run. */
  targetOf(cell: Cell): Target | undefined
  /** What runs njs, such as `qjs in NGINX 1.30.6`; null for other apps. */
  engineOf(cell: Cell): string | null
  /** Where the agent's own CPU time is added up. */
  record: ClusterRecord
  /** Removes what is not a pod. */
  onStop?(): Promise<void>
}

/** What an agent accounts for during a slice. */
interface Watched {
  agent: Agent
  app: string | null
  proxy: string | null
}

/** The containers of a heat, in one pod or in several. */
export class KubernetesServers implements Servers {
  readonly #options: KubernetesServersOptions
  /** An account found a process missing, or could not be taken: the cluster is asked why. */
  #isSuspect = false
  /** Why accounts can no longer be taken: a clause. */
  #lost: string | null = null

  constructor(options: KubernetesServersOptions) {
    this.#options = options
  }

  target(cell: Cell): Target | undefined {
    const { app, proxy } = this.#options.partsOf(cell)
    const parts = [app, ...(proxy === null ? [] : [proxy])]
    const isUp = parts.every((part) => {
      const own = this.#podsWith(part)
      return own.length > 0 && own.every(({ started }) => started.ready.has(part))
    })
    return isUp ? this.#options.targetOf(cell) : undefined
  }

  whyMissing(cell: Cell): string {
    const { app } = this.#options.partsOf(cell)
    const [failure] = this.#podsWith(app).flatMap(({ started }) => started.failures.get(app) ?? [])
    return failure === undefined ? 'there is no NGINX' : `the app did not start: ${oneLine(failure)}`
  }

  engine(cell: Cell): string | null {
    return this.#options.engineOf(cell)
  }

  /** The cluster is asked only after something was wrong: it would take longer than a slice. */
  async whyEnded(cell: Cell): Promise<string | null> {
    if (!this.#isSuspect) return null
    const { app, proxy } = this.#options.partsOf(cell)
    const pods = this.#options.pods.filter((pod) => has(pod, app) || (proxy !== null && has(pod, proxy)))
    for (const pod of pods) {
      const why = await this.#whyPodEnded(pod, { app, proxy })
      if (why !== null) return why
    }
    return this.#lost
  }

  async #whyPodEnded({ started }: ServerPod, { app, proxy }: CellParts): Promise<string | null> {
    const { cluster } = this.#options
    const pod = await cluster.pod(started.pod.metadata?.name ?? '').catch((error: unknown) => {
      if (error instanceof KubernetesError && error.status === 404) return null
      throw error
    })
    if (pod === null) return 'the pod of the servers was removed'
    const ended = (name: string) => {
      const status = pod.status?.containerStatuses?.find((one) => one.name === name)
      return status?.state?.terminated === undefined ? null : describeEnd(status)
    }
    const endOfApp = ended(app)
    if (endOfApp !== null) return `the app did not go on: ${oneLine(endOfApp)}`
    const endOfProxy = proxy === null ? null : ended(proxy)
    if (endOfProxy !== null) return `NGINX did not go on: ${oneLine(endOfProxy)}`
    if (pod.status?.phase === 'Running' && pod.metadata?.deletionTimestamp === undefined) return null
    return `the pod of the servers ended: ${pod.status?.message ?? pod.status?.reason ?? 'it was deleted'}`
  }

  async beginAccount(cell: Cell): Promise<EndAccount> {
    const { record } = this.#options
    this.#isSuspect = true
    const watched = this.#watched(this.#options.partsOf(cell))
    await this.#orLost(
      Promise.all(
        watched.map(({ agent, app, proxy }) => agent.begin(app ?? proxy ?? '', app === null ? null : proxy)),
      ),
    )
    return async () => {
      const accounts = await this.#orLost(Promise.all(watched.map(({ agent }) => agent.end())))
      const account = mergeAccounts(
        accounts.map((one, index) =>
          watched[index]?.app === null ? { ...one, app: 0, proxy: one.app } : one,
        ),
      )
      this.#isSuspect = account.app === null || account.proxy === null
      record.agent.cpuSeconds += account.agent
      record.agent.seconds += account.seconds
      const voidBecause = describeThrottling(account)
      if (voidBecause !== undefined) record.voided.push(`${cell.id}: ${voidBecause}`)
      return (own) => ({
        cpuSeconds: { app: account.app, proxy: account.proxy, generator: own.cpuSeconds },
        disturbance: {
          serverWait: account.serverWait,
          generatorWait: own.waitSeconds === null ? null : Math.min(1, own.waitSeconds / account.seconds),
          serverForeign: null,
          generatorForeign: null,
        },
        ...(voidBecause !== undefined && { voidBecause }),
      })
    }
  }

  async #orLost<Value>(work: Promise<Value>): Promise<Value> {
    try {
      return await work
    } catch (error) {
      this.#lost = oneLine(error).replace(/\.$/, '')
      throw error
    }
  }

  async launches(cells: readonly Cell[]): Promise<LaunchRecord[]> {
    const parts = cells.map((cell) => ({ cell, ...this.#options.partsOf(cell) }))
    const names = new Map(parts.map(({ cell, app }) => [cell.app, app]))
    const isProxied = this.#podsWith(FRONT_SERVICE).some(({ started }) => started.ready.has(FRONT_SERVICE))
    if (isProxied) names.set('nginx', FRONT_SERVICE)
    return Promise.all([...names].map(async ([app, name]) => ({ app, peakMemory: await this.#peakOf(name) })))
  }

  /** Of all replicas together. */
  async #peakOf(name: string): Promise<number | null> {
    const peaks = await Promise.all(
      this.#podsWith(name).map(async ({ agent }) => (await agent.memory([name]))[name] ?? null),
    )
    return sumOf(peaks)
  }

  async stop(): Promise<void> {
    const { cluster, pods, onStop } = this.#options
    await onStop?.()
    await Promise.all(
      pods.map(async ({ agent, started }) => {
        await agent.stop().catch(() => {})
        await stopPod(cluster, started.pod.metadata?.name ?? '')
      }),
    )
  }

  #podsWith(container: string): ServerPod[] {
    return this.#options.pods.filter((pod) => has(pod, container))
  }

  #watched({ app, proxy }: CellParts): Watched[] {
    return this.#options.pods.flatMap((pod) => {
      const own = {
        agent: pod.agent,
        app: has(pod, app) ? app : null,
        proxy: proxy !== null && has(pod, proxy) ? proxy : null,
      }
      return own.app === null && own.proxy === null ? [] : [own]
    })
  }
}

function has({ started: { ready, failures } }: ServerPod, container: string): boolean {
  return ready.has(container) || failures.has(container)
}

/** Of several pods during one load: CPU times are added, and the pod that waited most decides. */
export function mergeAccounts(accounts: readonly ContainerAccount[]): ContainerAccount {
  const waits = accounts.flatMap(({ serverWait }) => serverWait ?? [])
  return {
    seconds: Math.max(...accounts.map(({ seconds }) => seconds)),
    app: sumOf(accounts.map(({ app }) => app)),
    proxy: sumOf(accounts.map(({ proxy }) => proxy)),
    serverWait: waits.length === accounts.length ? Math.max(...waits) : null,
    throttled: sumOf(accounts.map(({ throttled }) => throttled)),
    agent: accounts.reduce((sum, { agent }) => sum + agent, 0),
  }
}

/** Null if one is not known. */
function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0)
}

/** A stall of a quota is not the server's own: such a slice says nothing. @returns undefined if no CPU limit stopped the servers */
export function describeThrottling({ throttled }: Pick<ContainerAccount, 'throttled'>): string | undefined {
  if (throttled === null || throttled === 0) return undefined
  return `a CPU limit stopped the servers for ${(throttled * 1000).toFixed(1)} ms; the namespace may have a LimitRange that adds one`
}
