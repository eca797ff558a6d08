import { randomBytes } from 'node:crypto'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type V1Lease, V1MicroTime, type V1ObjectMeta } from '@kubernetes/client-node'
import { plural } from '@startgrid/cli/text.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'

/**
 * Everything that one run has in a cluster carries one label and belongs to one Lease. While the run lives, it renews that Lease. A later run removes
 * what belongs to a Lease that nobody renews.
 */

/** On every object of a run, with its name. */
const RUN_LABEL = 'startgrid.dev/bench'

/** A run that has not renewed its Lease for so long is over. */
const LEASE_SECONDS = 30
const RENEW_MS = 5_000

export interface ClusterRun {
  /** Name of its Lease, and the beginning of the names of its pods. */
  readonly name: string
  /** What an object of the run is called and belongs to. @param part such as `servers-1`; @param role `servers` or `generator` */
  metadata(part: string, role: string): V1ObjectMeta
  /** Selects its pods. */
  readonly selector: string
  /** Removes all that it has; resolves when its pods are gone, or after 30 s. */
  end(): Promise<void>
}

/** @throws {KubernetesError} if the cluster refuses */
export async function beginRun(cluster: Cluster): Promise<ClusterRun> {
  const name = `bench-${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`
  const labels = { [RUN_LABEL]: name }
  const { metadata } = await cluster.createLease(leaseOf(name, labels))
  const owner = {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name },
    uid: metadata?.uid ?? '',
    blockOwnerDeletion: false,
  }
  // A renewal that fails is tried again: six are due before anybody takes the run for dead.
  const renewals = setInterval(() => void cluster.renewLease(name).catch(() => {}), RENEW_MS)
  renewals.unref()
  const selector = `${RUN_LABEL}=${name}`
  return {
    ...{ name, selector },
    metadata: (part, role) => ({
      name: `${name}-${part}`,
      labels: { ...labels, 'app.kubernetes.io/name': `bench-${role}`, 'app.kubernetes.io/component': role },
      ownerReferences: [owner],
    }),
    end: async () => {
      clearInterval(renewals)
      await removeAll(cluster, name)
    },
  }
}

function leaseOf(name: string, labels: Record<string, string>): V1Lease {
  const now = new V1MicroTime()
  return {
    metadata: { name, labels },
    spec: {
      holderIdentity: `${process.pid}@${os.hostname()}`,
      leaseDurationSeconds: LEASE_SECONDS,
      ...{ acquireTime: now, renewTime: now },
    },
  }
}

type Removing = Pick<Cluster, 'leases' | 'podsWith' | 'removeLease' | 'removePod'>

/** The pods at once, without the time that the cluster would leave them to end; the rest goes with the Lease. */
async function removeAll(cluster: Removing, name: string): Promise<void> {
  await cluster.removeLease(name)
  for (let tries = 0; tries < 60; tries++) {
    const pods = await cluster.podsWith(`${RUN_LABEL}=${name}`)
    if (pods.length === 0) return
    await Promise.all(pods.map(({ metadata }) => cluster.removePod(metadata?.name ?? '')))
    await sleep(500)
  }
}

interface LeftoverOptions {
  say(text: string): void
  signal: AbortSignal
  /** For tests: how long a Lease must stay as it is, in seconds. */
  leaseSeconds?: number
}

/**
 * Removes what runs left that are over. Whether a run is over is not decided by clocks, which differ between machines: its Lease is watched until it
 * is renewed, or until it could have been renewed several times. A run that lives costs 5 s at most, a dead one 30 s.
 */
export async function removeLeftovers(
  cluster: Removing,
  { say, signal, leaseSeconds = LEASE_SECONDS }: LeftoverOptions,
): Promise<void> {
  const first = await cluster.leases(RUN_LABEL)
  if (first.length === 0) return
  const others =
    first.length === 1
      ? ['is another run', 'it is alive']
      : [`are ${first.length} other runs`, 'they are alive']
  say(`There ${others[0]} in this namespace: looking for up to ${leaseSeconds} s whether ${others[1]}.`)
  const silent = new Map(first.map((lease) => [nameOf(lease), versionOf(lease)]))
  const deadline = performance.now() + leaseSeconds * 1000
  while (silent.size > 0 && performance.now() < deadline) {
    await sleep(500, undefined, { signal })
    const now = new Map((await cluster.leases(RUN_LABEL)).map((lease) => [nameOf(lease), versionOf(lease)]))
    for (const [name, version] of silent) if (now.get(name) !== version) silent.delete(name)
  }
  for (const name of silent.keys()) {
    const pods = await cluster.podsWith(`${RUN_LABEL}=${name}`)
    await removeAll(cluster, name)
    const holder = first.find((lease) => nameOf(lease) === name)?.spec?.holderIdentity
    say(
      `Removed what a run left that ended without clearing up: ${plural(pods.length, 'pod')} of ${name} (process ${holder}).`,
    )
  }
}

function nameOf({ metadata }: V1Lease): string {
  return metadata?.name ?? ''
}

function versionOf({ metadata }: V1Lease): string | undefined {
  return metadata?.resourceVersion
}
