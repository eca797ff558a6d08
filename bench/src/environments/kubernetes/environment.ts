import type { V1ContainerStatus } from '@kubernetes/client-node'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { Cluster, KubernetesError } from '@startgrid/grid/kubernetes-cluster.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { CeilingServer } from '../../drivers/ceiling.ts'
import type { GeneratorSource } from '../../drivers/generator.ts'
import type { CellSpec, ClusterRecord, NginxVersion, Settings } from '../../model/result.ts'
import { appOf } from '../../plan/cells.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { Agent } from './agent.ts'
import { describeNodes } from './facts.ts'
import { type Generators, startGenerators } from './generators.ts'
import { AGENT, CEILING_PORT, generatorPod, type Placement, scoutPod, serverPod } from './pods.ts'
import { beginRun, type ClusterRun, removeLeftovers } from './run.ts'
import { KubernetesServers } from './servers.ts'
import { describeMissing, PERMISSIONS, READ_NODES, readNodeSelector } from './site.ts'
import { containerIds, type StartedPod, startPod, stopPod } from './start.ts'
import { proveInPods } from './suite.ts'

/**
 * Gets everything ready that lasts for the whole run: permissions, images and quota are there, what killed runs left is removed, and the generators wait.
 * @param record filled in place, also while the run goes on
 * @throws {UsageError} one sentence: what is missing
 */
export async function openKubernetes(
  cells: readonly CellSpec[],
  record: ClusterRecord,
  options: EnvironmentOptions,
): Promise<Environment> {
  try {
    return await prepare(cells, record, options)
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
  cells: readonly CellSpec[],
  record: ClusterRecord,
  { progress, signal, warn }: EnvironmentOptions,
): Promise<Environment> {
  const cluster = new Cluster(record.namespace, record.context ?? undefined)
  const missing = await cluster.missing(PERMISSIONS)
  if (missing.length > 0) throw new UsageError(describeMissing(missing, record.namespace))
  record.version = await cluster.version()
  await removeLeftovers(cluster, { say: (text) => progress.say(text), signal })
  const run = await beginRun(cluster)
  try {
    await tryPods(cluster, run, cells, record)
    progress.say('Looking for the images on the node of the servers.')
    const scouted = await scout(cluster, run, cells, { record, signal })
    const generators = await startGenerators(cluster, run, record, { notNode: scouted.node, signal })
    const seesNodes = (await cluster.missing([READ_NODES])).length === 0
    record.nodes = describeNodes(scouted, generators.views, seesNodes ? await cluster.nodes() : [])
    const [servers, ...others] = record.nodes
    if (servers !== undefined && servers.cpus.length > 1)
      warn({ kind: 'node-cores', node: servers.name, cpus: servers.cpus.length })
    const cores = coresOf(servers?.cpus, others[0]?.cpus)
    return new KubernetesEnvironment({ ...{ cluster, run, record, generators, scouted, cores, signal } })
  } catch (error) {
    await run.end().catch(() => {})
    throw error
  }
}

/** Null where the servers have more than one, and so do not share it. */
function coresOf(server: readonly number[] = [], generator: readonly number[] = []): Settings['cores'] {
  const [first] = server
  return first === undefined || server.length > 1 ? null : { server: first, generator: generator[0] ?? 0 }
}

/** Where the servers may run: on the given nodes. */
function serverPlacement({ serverNode }: ClusterRecord): Placement {
  return { labels: serverNode === null ? undefined : readNodeSelector('--server-node', serverNode) }
}

/** Whether quota and policies of the namespace allow the largest heat and a generator. @throws {KubernetesError} if not */
async function tryPods(
  cluster: Cluster,
  run: ClusterRun,
  cells: readonly CellSpec[],
  record: ClusterRecord,
): Promise<void> {
  const heats = [...Map.groupBy(cells, ({ race }) => race).values()].map((own) => appsOf(own))
  const largest = heats.toSorted((one, other) => other.length - one.length)[0] ?? []
  const pods = [
    serverPod(run.metadata('tried-1', 'servers'), serverPlacement(record), { apps: largest, proxied: true }),
    generatorPod(run.metadata('tried-2', 'generator'), {}),
  ]
  for (const pod of pods) await cluster.createPod(pod, { dryRun: true })
}

/** What the first pod found on the node of the servers. */
export interface Scouted {
  node: string
  view: Awaited<ReturnType<Agent['look']>>
  /** By image: what identifies it, and what the programs in it say of themselves. */
  images: ReadonlyMap<string, { id: string; says: string }>
}

async function scout(
  cluster: Cluster,
  run: ClusterRun,
  cells: readonly CellSpec[],
  { record, signal }: { record: ClusterRecord; signal: AbortSignal },
): Promise<Scouted> {
  const images = [...new Set([...cells.map((cell) => appOf(cell).framework), FRONT_SERVICE])]
  const body = scoutPod(run.metadata('scout', 'servers'), serverPlacement(record), images)
  const { pod, ready, failures } = await startPod(cluster, body, { signal, ending: images })
  for (const [name, why] of failures)
    throw new KubernetesError(
      `The image of ${name} does not start on ${pod.spec?.nodeName}: ${oneLine(why)}.`,
    )
  const name = pod.metadata?.name ?? ''
  const agent = await Agent.start(cluster, name, AGENT)
  const view = await agent.look()
  await agent.stop()
  await stopPod(cluster, name)
  const said = (one: V1ContainerStatus) => one.state?.terminated?.message?.trim() ?? ''
  return {
    node: pod.spec?.nodeName ?? '',
    view,
    images: new Map([...ready].map(([image, one]) => [image, { id: one.imageID, says: said(one) }])),
  }
}

interface Context {
  cluster: Cluster
  run: ClusterRun
  record: ClusterRecord
  generators: Generators
  scouted: Scouted
  cores: Settings['cores']
  signal: AbortSignal
}

/** The servers of a heat are one pod, and the generators are pods on other nodes. */
class KubernetesEnvironment implements Environment {
  readonly cores: Settings['cores']
  readonly generator: GeneratorSource
  readonly facts: Environment['facts']
  readonly #context: Context
  #njsEngine: string | null = null
  #started = 0

  constructor(context: Context) {
    const { cores, generators, record, scouted } = context
    this.#context = context
    this.cores = cores
    this.generator = generators.source
    const versions = readVersions()
    const [servers] = record.nodes
    const node = [...scouted.images.values()].find(({ says }) => /^v\d/.test(says))
    this.facts = {
      ...(servers !== undefined && { machine: servers.machine }),
      versions: {
        ...versions,
        node: node?.says.replace(/^v/, '') ?? 'unknown',
        bun: scouted.images.get('bun')?.says ?? versions.bun,
      },
    }
  }

  async findProxy(cells: readonly CellSpec[]): Promise<NginxVersion | null> {
    const hasNjs = cells.some(({ app }) => app.startsWith('njs/'))
    if (!hasNjs && cells.every(({ topology }) => topology === 'direct')) return null
    const { images } = this.#context.scouted
    const version = /nginx\/(\S+)/.exec(images.get(FRONT_SERVICE)?.says ?? '')?.[1] ?? 'unknown'
    const own = images.get('njs')?.says.split('\n')
    if (own === undefined) return { kind: 'kubernetes', version, njs: null }
    const engine = own[1]?.trim() || 'njs'
    this.#njsEngine = `${engine} in NGINX ${version}`
    return { kind: 'kubernetes', version, njs: { version: 'unknown', engine } }
  }

  /** Images say it all, but for the configuration of NGINX, which is made for each heat. */
  fingerprint({ app, topology }: CellSpec): string {
    const { scouted, generators } = this.#context
    const name = app.replace(/#\d+$/, '')
    const [framework = ''] = name.split('/')
    const ids = [framework, FRONT_SERVICE].map((image) => scouted.images.get(image)?.id)
    return fingerprint(
      ['bench/src/environments/kubernetes', 'nginx/conf'],
      ['kubernetes', name, topology, ...ids, generators.imageId],
    )
  }

  async prove(cells: readonly CellSpec[]): Promise<ReadonlyMap<string, Proof>> {
    const { cluster, generators, signal } = this.#context
    const servers = await this.startServers(cells).catch((error: unknown) => oneLine(error))
    if (typeof servers === 'string') {
      const differences = [`the servers did not start: ${servers}`]
      return new Map(signal.aborted ? [] : cells.map(({ id }) => [id, { checked: 0, differences }]))
    }
    try {
      return await proveInPods(cells, { cluster, pod: generators.first, servers, signal })
    } finally {
      await servers.stop()
    }
  }

  /** Also measures the round trip between the nodes, because an idle server is there. */
  async startCeiling(): Promise<CeilingServer | undefined> {
    const { cluster, record, generators, signal } = this.#context
    if (signal.aborted) return undefined
    const { pod, failures } = await this.#startPod([], true)
    const [failure] = failures.values()
    if (failure !== undefined) throw new Error(failure)
    const target = { host: pod.status?.podIP ?? '', port: CEILING_PORT }
    record.roundTripMs = await generators.roundTripMs(target)
    return { target, stop: () => stopPod(cluster, pod.metadata?.name ?? '') }
  }

  async startServers(cells: readonly CellSpec[]): Promise<Servers> {
    const { cluster, record } = this.#context
    const apps = appsOf(cells)
    const proxied = cells.some(({ topology }) => topology !== 'direct')
    const started = await this.#startPod(apps, proxied)
    const name = started.pod.metadata?.name ?? ''
    try {
      const front = started.failures.get(FRONT_SERVICE)
      if (front !== undefined) throw new Error(`NGINX does not start: ${front}.`)
      const agent = await Agent.start(cluster, name, AGENT)
      const unseen = await agent.watch(containerIds(started.ready.values()))
      if (unseen.length > 0) throw new Error(`The agent does not see the processes of ${unseen.join(', ')}.`)
      return new KubernetesServers({ cluster, started, agent, apps, njsEngine: this.#njsEngine, record })
    } catch (error) {
      await stopPod(cluster, name)
      throw error
    }
  }

  async close(): Promise<void> {
    const { run, generators } = this.#context
    await generators.close()
    // What the cluster does not remove now, the next run removes.
    await run.end().catch(() => {})
  }

  #startPod(apps: readonly App[], proxied: boolean): Promise<StartedPod> {
    const { cluster, run, record, scouted, signal } = this.#context
    const metadata = run.metadata(`servers-${++this.#started}`, 'servers')
    const placement = { ...serverPlacement(record), node: scouted.node }
    return startPod(cluster, serverPod(metadata, placement, { apps, proxied }), { signal })
  }
}

/** Under the names of cells, twins included. */
function appsOf(cells: readonly CellSpec[]): App[] {
  return [...new Map(cells.map((cell) => [cell.app, appOf(cell)])).values()]
}
