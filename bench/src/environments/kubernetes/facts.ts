import type { V1Node } from '@kubernetes/client-node'
import type { NodeView } from '@startgrid/machine/agent/messages.ts'
import type { ClusterNode } from '../../model/result.ts'

/** What a result says of the nodes: what pods see there, and what the cluster says where this account may ask. Pure. */

/** The node of the servers first. */
export function describeNodes(
  servers: { node: string; view: NodeView },
  generators: ReadonlyMap<string, NodeView>,
  nodes: readonly V1Node[],
): ClusterNode[] {
  return [
    describeNode('servers', servers.node, servers.view, nodes),
    ...[...generators].map(([name, view]) => describeNode('generators', name, view, nodes)),
  ]
}

function describeNode(
  role: ClusterNode['role'],
  name: string,
  { machine, cpus }: NodeView,
  nodes: readonly V1Node[],
): ClusterNode {
  const { nodeInfo, capacity } = nodes.find(({ metadata }) => metadata?.name === name)?.status ?? {}
  return {
    ...{ name, role, cpus },
    machine: {
      ...machine,
      cores: Number(capacity?.cpu ?? machine.cores),
      // In a pod this is the system of the image.
      os: nodeInfo?.osImage ?? 'a system that only the cluster knows',
    },
  }
}
