import type { V1ContainerStatus } from '@kubernetes/client-node'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { ClusterRecord } from '../../model/provenance.ts'
import type { EnvironmentOptions, Placed } from '../environment.ts'
import { Agent } from './agent.ts'
import { describeNodes, type Generators, readBootId, type SeenNode, startGenerators } from './generators.ts'
import { AGENT, generatorPod, layOut, type Placement, scoutPod, serverPod } from './pods.ts'
import { beginRun, type ClusterRun, removeLeftovers } from './run.ts'
import { describeMissing, PERMISSIONS, READ_NODES, readNodeSelector } from './site.ts'
import { startPod, stopPod } from './start.ts'

/** What lasts for a whole run in a cluster. */

/** What a run asks of the cluster beside generators. */
interface ClusterNeeds {
  /** The programs of the servers, as `imageOf` names them. */
  images: readonly string[]
  /** The servers of the largest heat: whether quota and policies of the namespace allow their pod is tried first. */
  largest: readonly Placed[]
}

/** What the first pod found on the node of the servers. */
interface Scouted extends SeenNode {
  node: string
  /** By image: what identifies it, and what the programs in it say of themselves. */
  images: ReadonlyMap<string, { id: string; says: string }>
}

/** A run whose generators wait for servers. */
export interface ClusterContext {
  cluster: Cluster
  run: ClusterRun
  record: ClusterRecord
  generators: Generators
  scouted: Scouted
  /** On the node that was scouted. */
  placement: Placement
  signal: AbortSignal
}

/**
 * Gets everything ready that lasts for the whole run: permissions, images and quota are there, what killed runs left is removed, and the generators wait.
 * @param record filled in place, also while the run goes on
 * @throws {UsageError} one sentence: what is missing
 */
export async function prepareCluster(
  record: ClusterRecord,
  needs: ClusterNeeds,
  options: EnvironmentOptions,
): Promise<ClusterContext> {
  try {
    return await prepare(record, needs, options)
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error
    throw new UsageError(`--kubernetes cannot be used here. ${whatToDo(error, record)}`)
  }
}

function whatToDo({ message, status }: KubernetesError, { namespace }: ClusterRecord): string {
  if (status === 404 && message.includes(`namespaces "${namespace}"`))
    return `There is no namespace ${namespace}: make it with kubectl create namespace ${namespace}, or name another one with --namespace.`
  return message
}

async function prepare(
  record: ClusterRecord,
  { images, largest }: ClusterNeeds,
  { progress, signal, warn }: EnvironmentOptions,
): Promise<ClusterContext> {
  const cluster = new Cluster(record.namespace, record.context ?? undefined)
  const missing = await cluster.missing(PERMISSIONS)
  if (missing.length > 0) throw new UsageError(describeMissing(missing, record.namespace))
  record.version = await cluster.version()
  await removeLeftovers(cluster, { say: (text) => progress.say(text), signal })
  const run = await beginRun(cluster)
  try {
    const tried = run.metadata('tried-1', 'servers')
    await cluster.createPod(serverPod(tried, serverPlacement(record), layOut(largest)), { dryRun: true })
    await cluster.createPod(generatorPod(run.metadata('tried', 'generator'), {}), { dryRun: true })
    progress.say('Looking for the images on the node of the servers.')
    const scouted = await scout(cluster, run, images, { record, signal })
    const generators = await startGenerators(cluster, run, record, { notNode: scouted.node, signal })
    const seesNodes = (await cluster.missing([READ_NODES])).length === 0
    const nodes = seesNodes ? await cluster.nodes() : []
    record.nodes = describeNodes(scouted, generators.views, nodes)
    const [servers] = record.nodes
    if (servers !== undefined && servers.cpus.length > 1)
      warn({ kind: 'node-cores', node: servers.name, cpus: servers.cpus.length })
    const placement = { ...serverPlacement(record), node: scouted.node }
    return { cluster, run, record, generators, scouted, placement, signal }
  } catch (error) {
    await run.end().catch(() => {})
    throw error
  }
}

/** Where the servers may run: on the given nodes. */
function serverPlacement({ serverNode }: ClusterRecord): Placement {
  return { labels: serverNode === null ? undefined : readNodeSelector('--server-node', serverNode) }
}

async function scout(
  cluster: Cluster,
  run: ClusterRun,
  images: readonly string[],
  { record, signal }: { record: ClusterRecord; signal: AbortSignal },
): Promise<Scouted> {
  const body = scoutPod(run.metadata('scout', 'servers'), serverPlacement(record), images)
  const { pod, ready, failures } = await startPod(cluster, body, { signal, ending: images })
  for (const [name, why] of failures)
    throw new KubernetesError(
      `The image of ${name} does not start on ${pod.spec?.nodeName}: ${oneLine(why)}.`,
    )
  const name = pod.metadata?.name ?? ''
  const agent = await Agent.start(cluster, name, AGENT)
  const seen = { view: await agent.look(), bootId: await readBootId(cluster, name, AGENT) }
  await agent.stop()
  await stopPod(cluster, name)
  const said = (one: V1ContainerStatus) => one.state?.terminated?.message?.trim() ?? ''
  return {
    ...seen,
    node: pod.spec?.nodeName ?? '',
    images: new Map([...ready].map(([image, one]) => [image, { id: one.imageID, says: said(one) }])),
  }
}
