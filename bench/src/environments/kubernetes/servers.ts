import { oneLine } from '@startgrid/cli/text.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { type Cluster, KubernetesError } from '@startgrid/grid/kubernetes-cluster.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { ContainerAccount } from '@startgrid/machine/agent/messages.ts'
import type { CellSpec, ClusterRecord, LaunchRecord } from '../../model/result.ts'
import { appOf } from '../../plan/cells.ts'
import { hostOf } from '../docker/project.ts'
import type { EndAccount, Servers } from '../servers.ts'
import type { Agent } from './agent.ts'
import { frontPortOf, portOf } from './pods.ts'
import { describeEnd, type StartedPod, stopPod } from './start.ts'

export interface KubernetesServersOptions {
  cluster: Cluster
  started: StartedPod
  agent: Agent
  apps: readonly App[]
  /** What runs njs, such as `qjs in NGINX 1.30.6`. */
  njsEngine: string | null
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

  target(cell: CellSpec): Target | undefined {
    const { apps, started } = this.#options
    const host = started.pod.status?.podIP
    if (host === undefined || !started.ready.has(hostOf(appOf(cell)))) return undefined
    const index = apps.findIndex(({ name }) => name === cell.app)
    if (cell.topology === 'direct') return { host, port: portOf(index) }
    return started.ready.has(FRONT_SERVICE) ? { host, port: frontPortOf(index) } : undefined
  }

  whyMissing(cell: CellSpec): string {
    const failure = this.#options.started.failures.get(hostOf(appOf(cell)))
    return failure === undefined ? 'there is no NGINX' : `the app did not start: ${oneLine(failure)}`
  }

  engine({ framework }: CellSpec): string | null {
    return framework.startsWith('njs') ? this.#options.njsEngine : null
  }

  /** The cluster is asked only after something was wrong: it would take longer than a slice. */
  async whyEnded(cell: CellSpec): Promise<string | null> {
    if (!this.#isSuspect) return null
    const { cluster, started } = this.#options
    const pod = await cluster.pod(started.pod.metadata?.name ?? '').catch((error: unknown) => {
      if (error instanceof KubernetesError && error.status === 404) return null
      throw error
    })
    if (pod === null) return 'the pod of the servers was removed'
    const ended = (name: string) => {
      const status = pod.status?.containerStatuses?.find((one) => one.name === name)
      return status?.state?.terminated === undefined ? null : describeEnd(status)
    }
    const app = ended(hostOf(appOf(cell)))
    if (app !== null) return `the app did not go on: ${oneLine(app)}`
    const proxy = cell.topology === 'direct' ? null : ended(FRONT_SERVICE)
    if (proxy !== null) return `NGINX did not go on: ${oneLine(proxy)}`
    if (pod.status?.phase === 'Running' && pod.metadata?.deletionTimestamp === undefined) return this.#lost
    return `the pod of the servers ended: ${pod.status?.message ?? pod.status?.reason ?? 'it was deleted'}`
  }

  async beginAccount(cell: CellSpec): Promise<EndAccount> {
    const { agent, record } = this.#options
    this.#isSuspect = true
    const proxy = cell.topology === 'direct' ? null : FRONT_SERVICE
    await this.#orLost(agent.begin(hostOf(appOf(cell)), proxy))
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

  async launches(cells: readonly CellSpec[]): Promise<LaunchRecord[]> {
    const { agent, started } = this.#options
    const apps = new Map(cells.map((cell) => [cell.app, hostOf(appOf(cell))]))
    const names = [...apps, ...(started.ready.has(FRONT_SERVICE) ? [['nginx', FRONT_SERVICE] as const] : [])]
    const peaks = await agent.memory(names.map(([, container]) => container))
    return names.map(([app, container]) => ({ app, peakMemory: peaks[container] ?? null }))
  }

  async stop(): Promise<void> {
    const { cluster, agent, started } = this.#options
    await agent.stop().catch(() => {})
    await stopPod(cluster, started.pod.metadata?.name ?? '')
  }
}

/** A stall of a quota is not the server's own: such a slice says nothing. @returns undefined if no CPU limit stopped the servers */
export function describeThrottling({ throttled }: Pick<ContainerAccount, 'throttled'>): string | undefined {
  if (throttled === null || throttled === 0) return undefined
  return `a CPU limit stopped the servers for ${(throttled * 1000).toFixed(1)} ms; the namespace may have a LimitRange that adds one`
}
