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

/** The containers of a cell, by name. */
export interface CellParts {
  app: string
  proxy: string | null
}

export interface KubernetesServersOptions {
  cluster: Cluster
  pod: ServerPod
  /** @throws {Error} if it is not of this heat */
  partsOf(cell: Cell): CellParts
  /** Where the generators reach a cell whose containers run. */
  targetOf(cell: Cell): Target | undefined
  /** What runs njs, such as `qjs in NGINX 1.30.6`; null for other apps. */
  engineOf(cell: Cell): string | null
  /** Where the agent's own CPU time is added up. */
  record: ClusterRecord
}

/** The containers of a heat, in one pod. */
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
    const isUp = parts.every((part) => this.#options.pod.started.ready.has(part))
    return isUp ? this.#options.targetOf(cell) : undefined
  }

  whyMissing(cell: Cell): string {
    const { app } = this.#options.partsOf(cell)
    const failure = this.#options.pod.started.failures.get(app)
    return failure === undefined ? 'there is no NGINX' : `the app did not start: ${oneLine(failure)}`
  }

  engine(cell: Cell): string | null {
    return this.#options.engineOf(cell)
  }

  /** The cluster is asked only after something was wrong: it would take longer than a slice. */
  async whyEnded(cell: Cell): Promise<string | null> {
    if (!this.#isSuspect) return null
    return (await this.#whyPodEnded(this.#options.partsOf(cell))) ?? this.#lost
  }

  async #whyPodEnded({ app, proxy }: CellParts): Promise<string | null> {
    const {
      cluster,
      pod: { started },
    } = this.#options
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
    const {
      record,
      pod: { agent },
    } = this.#options
    this.#isSuspect = true
    const { app, proxy } = this.#options.partsOf(cell)
    await this.#orLost(agent.begin(app, proxy))
    return async () => {
      const account = await this.#orLost(agent.end())
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
    if (this.#options.pod.started.ready.has(FRONT_SERVICE)) names.set('nginx', FRONT_SERVICE)
    const memory = await this.#options.pod.agent.memory([...new Set(names.values())])
    return [...names].map(([app, name]) => ({ app, peakMemory: memory[name] ?? null }))
  }

  async stop(): Promise<void> {
    const {
      cluster,
      pod: { agent, started },
    } = this.#options
    await agent.stop().catch(() => {})
    await stopPod(cluster, started.pod.metadata?.name ?? '')
  }
}

/** A stall of a quota is not the server's own: such a slice says nothing. @returns undefined if no CPU limit stopped the servers */
export function describeThrottling({ throttled }: Pick<ContainerAccount, 'throttled'>): string | undefined {
  if (throttled === null || throttled === 0) return undefined
  return `a CPU limit stopped the servers for ${(throttled * 1000).toFixed(1)} ms; the namespace may have a LimitRange that adds one`
}
