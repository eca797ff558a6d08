import type { V1Pod } from '@kubernetes/client-node'
import { type App, imageOn } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { CeilingServer } from '../../drivers/ceiling.ts'
import type { GeneratorSource } from '../../drivers/generator.ts'
import { appOf, isInNginx } from '../../experiment/cells.ts'
import type { Cell, ClusterRecord, NginxVersion, Settings } from '../../model/result.ts'
import { proveStarted } from '../conformance.ts'
import { hostOf } from '../docker/project.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { suiteWords, urlOf } from '../suite-elsewhere.ts'
import { frontPortOf, portOf, serverPod } from './pods.ts'
import {
  type ClusterContext,
  closeCluster,
  prepareCluster,
  proveInPod,
  startCeiling,
  startServerPod,
} from './prepare.ts'
import { KubernetesServers } from './servers.ts'
import { stopPod } from './start.ts'

/**
 * Gets everything ready that lasts for the whole run.
 * @param record filled in place, also while the run goes on
 * @throws {UsageError} one sentence: what is missing
 */
export async function openKubernetes(
  cells: readonly Cell[],
  record: ClusterRecord,
  options: EnvironmentOptions,
): Promise<Environment> {
  const heats = [...Map.groupBy(cells, ({ race }) => race).values()].map((own) => appsOf(own))
  const largest = heats.toSorted((one, other) => other.length - one.length)[0] ?? []
  const context = await prepareCluster(
    record,
    {
      images: [...new Set([...cells.map((cell) => appOf(cell).framework), FRONT_SERVICE])],
      tried: [(metadata, placement) => serverPod(metadata, placement, { apps: largest, proxied: true })],
    },
    options,
  )
  return new KubernetesEnvironment(context)
}

/** Null where the servers have more than one, and so do not share it. */
function coresOf({ nodes: [servers, ...others] }: ClusterRecord): Settings['cores'] {
  const [first, ...more] = servers?.cpus ?? []
  return first === undefined || more.length > 0 ? null : { server: first, generator: others[0]?.cpus[0] ?? 0 }
}

/** The servers of a heat are one pod, and the generators are pods on other nodes. */
class KubernetesEnvironment implements Environment {
  readonly cores: Settings['cores']
  readonly generator: GeneratorSource
  readonly facts: Environment['facts']
  readonly #context: ClusterContext
  #njsEngine: string | null = null
  #started = 0

  constructor(context: ClusterContext) {
    const { generators, record, scouted } = context
    this.#context = context
    this.cores = coresOf(record)
    this.generator = generators.source
    const versions = readVersions()
    const [servers] = record.nodes
    const node = [...scouted.images.values()].find(({ says }) => /^v\d/.test(says))
    this.facts = {
      ...(servers !== undefined && { machine: servers.machine }),
      versions: {
        ...versions,
        node: node?.says.replace(/^v/, '') ?? 'unknown',
        bun: scouted.images.get(imageOn('bun', scouted.images) ?? '')?.says ?? versions.bun,
      },
    }
  }

  async findProxy(cells: readonly Cell[]): Promise<NginxVersion | null> {
    const hasNjs = cells.some(isInNginx)
    if (!hasNjs && cells.every(({ topology }) => topology === 'direct')) return null
    const { images } = this.#context.scouted
    const version = /nginx\/(\S+)/.exec(images.get(FRONT_SERVICE)?.says ?? '')?.[1] ?? 'unknown'
    const own = images.get(imageOn('nginx', images) ?? '')?.says.split('\n')
    if (own === undefined) return { kind: 'kubernetes', version, njs: null }
    const engine = own[1]?.trim() || 'njs'
    this.#njsEngine = `${engine} in NGINX ${version}`
    return { kind: 'kubernetes', version, njs: { version: 'unknown', engine } }
  }

  /** Images say it all, but for the configuration of NGINX, which is made for each heat. */
  fingerprint({ app, topology }: Cell): string {
    const { scouted, generators } = this.#context
    const name = app.replace(/#\d+$/, '')
    const [framework = ''] = name.split('/')
    const ids = [framework, FRONT_SERVICE].map((image) => scouted.images.get(image)?.id)
    return fingerprint(
      ['bench/src/environments/kubernetes', 'nginx/conf'],
      ['kubernetes', name, topology, ...ids, generators.imageId],
    )
  }

  prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const { signal } = this.#context
    return proveStarted(cells, {
      start: (own) => this.startServers(own),
      prove: (cell, target) => proveInPod(this.#context, suiteWords(cell, urlOf(target))),
      signal,
    })
  }

  startCeiling(): Promise<CeilingServer | undefined> {
    return startCeiling(this.#context, `ceiling-${++this.#started}`)
  }

  async startServers(cells: readonly Cell[]): Promise<Servers> {
    const { cluster, record } = this.#context
    const apps = appsOf(cells)
    const proxied = cells.some(({ topology }) => topology !== 'direct')
    const pod = await startServerPod(this.#context, this.#serverPod(apps, proxied))
    const front = pod.started.failures.get(FRONT_SERVICE)
    if (front !== undefined) {
      await stopPod(cluster, pod.started.pod.metadata?.name ?? '')
      throw new Error(`NGINX does not start: ${front}.`)
    }
    const host = pod.started.pod.status?.podIP ?? ''
    return new KubernetesServers({
      ...{ cluster, record, pod },
      partsOf: (cell) => ({
        app: hostOf(appOf(cell)),
        proxy: cell.topology === 'direct' ? null : FRONT_SERVICE,
      }),
      targetOf: ({ app, topology }) => {
        const index = apps.findIndex(({ name }) => name === app)
        return { host, port: topology === 'direct' ? portOf(index) : frontPortOf(index) }
      },
      engineOf: (cell) => (isInNginx(cell) ? this.#njsEngine : null),
    })
  }

  close(): Promise<void> {
    return closeCluster(this.#context)
  }

  #serverPod(apps: readonly App[], proxied: boolean): V1Pod {
    const { run, placement } = this.#context
    const metadata = run.metadata(`servers-${++this.#started}`, 'servers')
    return serverPod(metadata, placement, { apps, proxied })
  }
}

/** Under the names of cells, twins included. */
function appsOf(cells: readonly Cell[]): App[] {
  return [...new Map(cells.map((cell) => [cell.app, appOf(cell)])).values()]
}
