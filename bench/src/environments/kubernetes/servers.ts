import { oneLine } from '@startgrid/cli/text.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { ContainerAccount } from '@startgrid/machine/agent/messages.ts'
import type { LaunchRecord } from '../../model/heat.ts'
import {
  isInNginx,
  isShared,
  launchOf,
  type Placed,
  type Server,
  type Servers,
  whyMissing,
} from '../environment.ts'
import { Agent } from './agent.ts'
import { AGENT, type CellParts, layOut, serverPod } from './pods.ts'
import type { ClusterContext } from './prepare.ts'
import { containerIds, describeEnd, type StartedPod, startPod, stopPod } from './start.ts'

type PodContext = Pick<ClusterContext, 'cluster' | 'record' | 'signal' | 'run' | 'placement'>

interface PodOptions {
  /** Of the pod, within the run. */
  name: string
  /** What runs njs, such as `qjs in NGINX 1.30.6`. */
  njsEngine: string | undefined
}

/**
 * Starts systems in one pod, and an agent beside them.
 * @throws {Error} a sentence; the pod is then removed
 */
export async function startServerPod(
  entrants: readonly Placed[],
  context: PodContext,
  { name, njsEngine }: PodOptions,
): Promise<Servers> {
  const { cluster, run, placement, signal } = context
  const layout = layOut(entrants)
  const started = await startPod(cluster, serverPod(run.metadata(name, 'servers'), placement, layout), {
    signal,
  })
  const pod = new ServerPod(context, started, await startAgent(context, started))
  const running = new Map<string, Server>()
  const failures = new Map<string, string>()
  for (const { cell, system } of entrants) {
    const parts = layout.parts.get(cell.id)
    const reason = parts === undefined ? 'it has no container' : whyMissing(parts, started.failures)
    if (parts === undefined || reason !== null) failures.set(cell.id, reason ?? '')
    else running.set(cell.id, pod.server(cell.id, parts, isInNginx(system) ? njsEngine : undefined))
  }
  const launches = async (loaded: readonly { id: string }[]): Promise<LaunchRecord[]> => {
    const names = new Map<string, string>()
    for (const one of entrants.filter(({ cell }) => loaded.some(({ id }) => id === cell.id))) {
      const { app, proxy } = layout.parts.get(one.cell.id) ?? { app: '', proxy: null }
      names.set(launchOf(one), app)
      if (proxy !== null && isShared(one)) names.set('nginx', proxy)
    }
    const memory = await pod.agent.memory([...new Set(names.values())])
    return [...names].map(([app, container]) => ({ app, peakMemory: memory[container] ?? null }))
  }
  return { running, failures, launches, stop: () => pod.stop() }
}

async function startAgent({ cluster }: PodContext, { pod, ready }: StartedPod): Promise<Agent> {
  const name = pod.metadata?.name ?? ''
  try {
    const agent = await Agent.start(cluster, name, AGENT)
    const unseen = await agent.watch(containerIds(ready.values()))
    if (unseen.length > 0) throw new Error(`The agent does not see the processes of ${unseen.join(', ')}.`)
    return agent
  } catch (error) {
    await stopPod(cluster, name)
    throw error
  }
}

/** The containers of a heat, and the agent beside them. */
class ServerPod {
  readonly agent: Agent
  readonly #context: PodContext
  readonly #started: StartedPod
  /** An account found a process missing, or could not be taken: the cluster is asked why. */
  #isSuspect = false
  /** Why accounts can no longer be taken: a clause. */
  #lost: string | null = null

  constructor(context: PodContext, started: StartedPod, agent: Agent) {
    this.agent = agent
    this.#context = context
    this.#started = started
  }

  server(id: string, parts: CellParts, engine: string | undefined): Server {
    return {
      target: { host: this.#started.pod.status?.podIP ?? '', port: parts.port },
      engine,
      // The cluster is asked only after something was wrong: it would take longer than a slice.
      whyEnded: async () => (this.#isSuspect ? ((await this.#whyEnded(parts)) ?? this.#lost) : null),
      beginAccount: async () => {
        const { record } = this.#context
        this.#isSuspect = true
        await this.#orLost(this.agent.begin(parts.app, parts.proxy))
        return async () => {
          const account = await this.#orLost(this.agent.end())
          this.#isSuspect = account.app === null || account.proxy === null
          record.agent.cpuSeconds += account.agent
          record.agent.seconds += account.seconds
          const voidBecause = describeThrottling(account)
          if (voidBecause !== undefined) record.voided.push(`${id}: ${voidBecause}`)
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
      },
    }
  }

  async stop(): Promise<[]> {
    await this.agent.stop().catch(() => {})
    await stopPod(this.#context.cluster, this.#started.pod.metadata?.name ?? '')
    return []
  }

  async #whyEnded({ app, proxy }: CellParts): Promise<string | null> {
    const pod = await this.#context.cluster
      .pod(this.#started.pod.metadata?.name ?? '')
      .catch((error: unknown) => {
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

  async #orLost<Value>(work: Promise<Value>): Promise<Value> {
    try {
      return await work
    } catch (error) {
      this.#lost = oneLine(error).replace(/\.$/, '')
      throw error
    }
  }
}

/** A stall of a quota is not the server's own: such a slice says nothing. @returns undefined if no CPU limit stopped the servers */
export function describeThrottling({ throttled }: Pick<ContainerAccount, 'throttled'>): string | undefined {
  if (throttled === null || throttled === 0) return undefined
  return `a CPU limit stopped the servers for ${(throttled * 1000).toFixed(1)} ms; the namespace may have a LimitRange that adds one`
}
