import { setTimeout as sleep } from 'node:timers/promises'
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'

/** Starting a pod, and why one does not start. */

/** Milliseconds until all containers of a pod must run. An image that the node lacks is pulled first. */
const START_WITHIN_MS = 120_000

/** Milliseconds until a pod must have a node. */
const SCHEDULE_WITHIN_MS = 15_000

const LOOK_MS = 200

/** What became of the containers of a pod, by name. */
export interface StartedPod {
  pod: V1Pod
  /** Those that are up; of a scout those that ended well. */
  ready: ReadonlyMap<string, V1ContainerStatus>
  /** Why one is not: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
}

interface StartOptions {
  signal: AbortSignal
  /** Containers that have done their work when they have ended. */
  ending?: readonly string[]
}

/**
 * Creates a pod and waits until each container runs or has failed.
 * @throws {KubernetesError} a sentence: the cluster refuses it, no node takes it, or an image is missing; the pod is then removed
 */
export async function startPod(
  cluster: Cluster,
  body: V1Pod,
  { signal, ending = [] }: StartOptions,
): Promise<StartedPod> {
  const name = body.metadata?.name ?? ''
  await cluster.createPod(body)
  const names = body.spec?.containers.map((container) => container.name) ?? []
  try {
    for (const from = performance.now(); ; await sleep(LOOK_MS, undefined, { signal })) {
      const pod = await cluster.pod(name)
      const waitedMs = performance.now() - from
      refuseUnscheduled(pod, waitedMs)
      refuseMissingImage(pod)
      const { ready, failures } = judgeContainers(pod, ending)
      if (ready.size + failures.size === names.length) return { pod, ready, failures }
      if (waitedMs > START_WITHIN_MS) {
        const late = names.filter((one) => !ready.has(one) && !failures.has(one))
        return {
          pod,
          ready,
          failures: new Map([...failures, ...late.map((one) => [one, TOO_LATE] as const)]),
        }
      }
    }
  } catch (error) {
    await cluster.removePod(name)
    throw error
  }
}

/** Ends the containers of a pod; resolves when they are gone. */
export async function stopPod(cluster: Cluster, name: string): Promise<void> {
  await cluster.removePod(name, 1)
  for (let tries = 0; tries < 100; tries++) {
    try {
      await cluster.pod(name)
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return
      throw error
    }
    await sleep(LOOK_MS)
  }
}

const TOO_LATE = `it is not ready after ${START_WITHIN_MS / 1000} s`

/** @throws {KubernetesError} with what the scheduler says */
export function refuseUnscheduled({ metadata, status, spec }: V1Pod, waitedMs: number): void {
  if (spec?.nodeName !== undefined || waitedMs < SCHEDULE_WITHIN_MS) return
  const found = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
  const role =
    metadata?.labels?.['app.kubernetes.io/component'] === 'generator' ? 'a generator' : 'the servers'
  const reason =
    found?.message?.replace(/\.?(?: no new claims to deallocate,)? preemption:.*$/, '') ??
    'no reason is known'
  throw new KubernetesError(`No node takes ${role}: ${reason}.`)
}

/** @throws {KubernetesError} naming the image */
export function refuseMissingImage({ spec, status }: V1Pod): void {
  for (const { image, state } of status?.containerStatuses ?? []) {
    const reason = state?.waiting?.reason ?? ''
    if (!/^(?:ErrImage|ImagePull|InvalidImage)/.test(reason)) continue
    throw new KubernetesError(
      `The node ${spec?.nodeName} has no image ${image} and cannot pull it: docker/README.md says how to build and push the images; ` +
        'STARTGRID_REGISTRY and STARTGRID_TAG say where they are.',
    )
  }
}

export function judgeContainers(
  { status }: V1Pod,
  ending: readonly string[] = [],
): Pick<StartedPod, 'ready' | 'failures'> {
  const ready = new Map<string, V1ContainerStatus>()
  const failures = new Map<string, string>()
  // A pod that is evicted has no statuses of containers.
  const evicted = status?.phase === 'Failed' ? (status.message ?? status.reason) : undefined
  for (const one of status?.containerStatuses ?? []) {
    const { terminated, waiting } = one.state ?? {}
    if (terminated !== undefined) {
      if (ending.includes(one.name) && terminated.exitCode === 0) ready.set(one.name, one)
      else failures.set(one.name, evicted ?? describeEnd(one))
    } else if (waiting?.reason === 'CreateContainerConfigError' || waiting?.reason === 'CreateContainerError')
      failures.set(one.name, waiting.message ?? waiting.reason)
    else if (one.started === true && !ending.includes(one.name)) ready.set(one.name, one)
  }
  return { ready, failures }
}

/** How a container ended: a clause, with what it said last. */
export function describeEnd({ state }: V1ContainerStatus): string {
  const { exitCode, reason, message } = state?.terminated ?? {}
  if (reason === 'OOMKilled') return 'it ran out of the memory that its limit allows'
  const last = message?.trim().split('\n').at(-1)
  return `it ended with exit code ${exitCode}${last ? `: ${last}` : ''}`
}

/** `containerd://0123…` without the name of the runtime. */
export function containerIds(statuses: Iterable<V1ContainerStatus>): Record<string, string> {
  const ids = [...statuses].map(({ name, containerID = '' }) => [name, containerID.replace(/^.*:\/\//, '')])
  return Object.fromEntries(ids) as Record<string, string>
}
