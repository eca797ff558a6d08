import type { V1Node } from '@kubernetes/client-node'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import type { NodeView } from '@startgrid/machine/agent/messages.ts'
import type { ClusterNode } from '../../model/provenance.ts'

/** What a result says of the nodes: what pods see there, and what the cluster says where this account may ask. */

/** What a pod on a node sees. */
export interface SeenNode {
  view: NodeView
  bootId: string | null
}

/** Linux has the same id in all pods of all nodes that run on one kernel. @returns null if the pod does not say it */
export async function readBootId(
  cluster: Pick<Cluster, 'run'>,
  pod: string,
  container: string,
): Promise<string | null> {
  const { code, stdout } = await cluster.run(pod, container, ['cat', '/proc/sys/kernel/random/boot_id'])
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : null
}

/** The node of the servers first. */
export function describeNodes(
  servers: SeenNode & { node: string },
  generators: ReadonlyMap<string, SeenNode>,
  nodes: readonly V1Node[],
): ClusterNode[] {
  return [
    describeNode('servers', servers.node, servers, nodes),
    ...[...generators].map(([name, seen]) => describeNode('generators', name, seen, nodes)),
  ]
}

function describeNode(
  role: ClusterNode['role'],
  name: string,
  { view: { machine, cpus }, bootId }: SeenNode,
  nodes: readonly V1Node[],
): ClusterNode {
  const { nodeInfo, capacity } = nodes.find(({ metadata }) => metadata?.name === name)?.status ?? {}
  return {
    ...{ name, role, cpus, bootId },
    machine: {
      ...machine,
      cores: Number(capacity?.cpu ?? machine.cores),
      // In a pod this is the system of the image.
      os: nodeInfo?.osImage ?? 'a system that only the cluster knows',
    },
  }
}
