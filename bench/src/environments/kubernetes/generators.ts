import { PassThrough } from 'node:stream'
import type { V1Node } from '@kubernetes/client-node'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import { type GeneratorChannel, LoadError } from '@startgrid/loadgen'
import type { NodeView } from '@startgrid/machine/agent/messages.ts'
import type { GeneratorSource } from '../../drivers/generator.ts'
import type { ClusterNode, ClusterRecord } from '../../model/provenance.ts'
import { Agent } from './agent.ts'
import { GENERATOR, GENERATOR_COMMAND, generatorPod } from './pods.ts'
import type { ClusterRun } from './run.ts'
import { readNodeSelector } from './site.ts'
import { startPod } from './start.ts'

/** The pods that offer the load, on other nodes than that of the servers. */
export interface Generators {
  source: GeneratorSource
  /** The name of a pod, in which the contract's suite can run, too. */
  first: string
  imageId: string | undefined
  /** By name of the node. */
  views: ReadonlyMap<string, SeenNode>
  /** Milliseconds to open a connection, the median of many. */
  roundTripMs(target: Extract<Target, { port: number }>): Promise<number>
  close(): Promise<void>
}

const ROUND_TRIPS = 101

/**
 * Starts the pods. The generators in them start when the driver does.
 * @param notNode the node of the servers
 * @throws {KubernetesError} a sentence, if one does not start
 */
export async function startGenerators(
  cluster: Cluster,
  run: ClusterRun,
  { generatorNode, generators, voided }: ClusterRecord,
  { notNode, signal }: { notNode: string; signal: AbortSignal },
): Promise<Generators> {
  const labels = generatorNode === null ? undefined : readNodeSelector('--generator-node', generatorNode)
  const placement = { notNodes: [notNode], labels }
  const started = await Promise.all(
    Array.from({ length: generators }, (_, index) =>
      startPod(cluster, generatorPod(run.metadata(`generator-${index + 1}`, 'generator'), placement), {
        signal,
      }),
    ),
  )
  const pods = started.map(({ pod }) => ({ name: pod.metadata?.name ?? '', node: pod.spec?.nodeName ?? '' }))
  const [failure] = started.flatMap(({ failures }) => [...failures.values()])
  const [first] = pods
  if (first === undefined || failure !== undefined)
    throw new KubernetesError(`A generator does not start: ${failure ?? 'there is none'}.`)
  const agents = await Promise.all(pods.map(({ name }) => Agent.start(cluster, name, GENERATOR)))
  const views = new Map<string, SeenNode>()
  for (const [index, agent] of agents.entries()) {
    const { name = '', node = '' } = pods[index] ?? {}
    views.set(node, { view: await agent.look(), bootId: await readBootId(cluster, name, GENERATOR) })
  }
  const sharesCore = (node: string) =>
    pods.filter((pod) => pod.node === node).length >
    (views.get(node)?.view.cpus.length ?? Number.POSITIVE_INFINITY)
  return {
    source: {
      team: pods.map(({ name, node }, index) => ({
        name: `generator ${index + 1} on ${node}`,
        options: { reach: 'anywhere', connect: () => connect(cluster, name, sharesCore(node)) },
      })),
      onVoid: (reason) => voided.push(reason),
    },
    first: first.name,
    imageId: started[0]?.pod.status?.containerStatuses?.[0]?.imageID,
    views,
    roundTripMs: async ({ host, port }) => {
      const ms = (await agents[0]?.connect(host, port, ROUND_TRIPS)) ?? []
      return ms.toSorted((one, other) => one - other)[Math.floor(ms.length / 2)] ?? 0
    },
    close: async () => {
      await Promise.all(agents.map((agent) => agent.stop().catch(() => {})))
    },
  }
}

/** Starts the generator's process in a pod. @param sharesCore others poll on the same core; @throws {LoadError} a sentence */
async function connect(cluster: Cluster, pod: string, sharesCore: boolean): Promise<GeneratorChannel> {
  try {
    const command = sharesCore ? [...GENERATOR_COMMAND, '--shares-core'] : GENERATOR_COMMAND
    const running = await cluster.start(pod, GENERATOR, command)
    const stderr = new PassThrough()
    const ended = Promise.all([running.stderr, running.ended]).then(([text, code]) => {
      stderr.end(text)
      return code < 0 ? 'the connection to it was lost' : `exit code ${code}`
    })
    return { stdin: running.stdin, stdout: running.stdout, stderr, ended }
  } catch (error) {
    if (error instanceof KubernetesError) throw new LoadError(error.message)
    throw error
  }
}

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
