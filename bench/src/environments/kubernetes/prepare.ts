import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { CeilingServer } from '../../drivers/ceiling.ts'
import type { ClusterRecord } from '../../model/result.ts'
import type { EnvironmentOptions, Proof } from '../environment.ts'
import { readProof } from '../suite-elsewhere.ts'
import { Agent } from './agent.ts'
import { describeNodes, readBootId, type SeenNode } from './facts.ts'
import { type Generators, startGenerators } from './generators.ts'
import { AGENT, CEILING_PORT, GENERATOR, generatorPod, type Placement, scoutPod, serverPod } from './pods.ts'
import { beginRun, type ClusterRun, removeLeftovers } from './run.ts'
import type { ServerPod } from './servers.ts'
import { describeMissing, PERMISSIONS, READ_NODES, readNodeSelector } from './site.ts'
import { containerIds, startPod, stopPod } from './start.ts'

/** What lasts for a whole run in a cluster. */

/** What a run asks of the cluster beside generators. */
interface ClusterNeeds {
  /** The programs of the servers, as `imageOf` names them. */
  images: readonly string[]
  /** Pods that are only tried: whether quota and policies of the namespace allow them. */
  tried: readonly ((metadata: ReturnType<ClusterRun['metadata']>, placement: Placement) => V1Pod)[]
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
  { images, tried }: ClusterNeeds,
  { progress, signal, warn }: EnvironmentOptions,
): Promise<ClusterContext> {
  const cluster = new Cluster(record.namespace, record.context ?? undefined)
  const missing = await cluster.missing(PERMISSIONS)
  if (missing.length > 0) throw new UsageError(describeMissing(missing, record.namespace))
  record.version = await cluster.version()
  await removeLeftovers(cluster, { say: (text) => progress.say(text), signal })
  const run = await beginRun(cluster)
  try {
    for (const [index, podOf] of tried.entries())
      await cluster.createPod(podOf(run.metadata(`tried-${index + 1}`, 'servers'), serverPlacement(record)), {
        dryRun: true,
      })
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

/**
 * Starts a pod of servers and the agent in it.
 * @throws {Error} a sentence; the pod is then removed
 */
export async function startServerPod(
  { cluster, signal }: Pick<ClusterContext, 'cluster' | 'signal'>,
  body: V1Pod,
): Promise<ServerPod> {
  const started = await startPod(cluster, body, { signal })
  const name = started.pod.metadata?.name ?? ''
  try {
    const agent = await Agent.start(cluster, name, AGENT)
    const unseen = await agent.watch(containerIds(started.ready.values()))
    if (unseen.length > 0) throw new Error(`The agent does not see the processes of ${unseen.join(', ')}.`)
    return { started, agent }
  } catch (error) {
    await stopPod(cluster, name)
    throw error
  }
}

/**
 * Starts NGINX alone, to find what the generators can do. Also measures the round trip between the nodes, because an idle server is there.
 * @param name of the pod within the run
 * @returns undefined after an abort
 * @throws {Error} a sentence: why NGINX does not start
 */
export async function startCeiling(
  { cluster, run, record, placement, generators, signal }: ClusterContext,
  name: string,
): Promise<CeilingServer | undefined> {
  if (signal.aborted) return undefined
  const body = serverPod(run.metadata(name, 'servers'), placement, { apps: [], proxied: true })
  const { pod, failures } = await startPod(cluster, body, { signal })
  const [failure] = failures.values()
  if (failure !== undefined) throw new Error(failure)
  const target = { host: pod.status?.podIP ?? '', port: CEILING_PORT }
  record.roundTripMs = await generators.roundTripMs(target)
  return { target, stop: () => stopPod(cluster, pod.metadata?.name ?? '') }
}

/** Ends the generators, and removes what the run made. What the cluster does not remove now, the next run removes. */
export async function closeCluster({
  run,
  generators,
}: Pick<ClusterContext, 'run' | 'generators'>): Promise<void> {
  await generators.close()
  await run.end().catch(() => {})
}

/** Runs the contract's suite in the pod of a generator. @param words what Node runs there */
export async function proveInPod(
  { cluster, generators }: Pick<ClusterContext, 'cluster' | 'generators'>,
  words: readonly string[],
): Promise<Proof> {
  const { stdout, stderr } = await cluster.run(generators.first, GENERATOR, ['node', ...words])
  return readProof(stdout, stderr)
}
