import type { V1Pod } from '@kubernetes/client-node'
import { oneLine } from '@startgrid/cli/text.ts'
import { APPS, imageOn, runtimeOf } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { CeilingServer } from '../../drivers/ceiling.ts'
import type { GeneratorSource } from '../../drivers/generator.ts'
import { fitTo } from '../../experiment/cells.ts'
import type { Experiment, System } from '../../model/experiment.ts'
import type { Cell, ClusterRecord, NginxVersion } from '../../model/result.ts'
import { proveStarted } from '../conformance.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { suiteProgram, urlOf } from '../suite-elsewhere.ts'
import { studyAddress, studyPod } from './pods.ts'
import {
  type ClusterContext,
  closeCluster,
  prepareCluster,
  proveInPod,
  startCeiling,
  startServerPod,
} from './prepare.ts'
import { KubernetesServers, type ServerPod } from './servers.ts'

/** The container of a system's app; of an NGINX that is alone, its own. */
const APP = 'app'

/**
 * The systems of a study as pods of one node, each with all the node's cores that it can use. What has no image, or is not measured by load from elsewhere,
 * is skipped with the reason.
 * @param record filled in place, also while the run goes on
 * @throws {UsageError} one sentence: what is missing
 */
export async function openStudyInCluster(
  study: Experiment,
  cells: readonly Cell[],
  record: ClusterRecord,
  options: EnvironmentOptions,
): Promise<Environment> {
  for (const cell of cells) cell.skipped = whyNotInPods(study.systems[cell.app], cell)
  const systems = cells.flatMap((cell) => (cell.skipped === null ? (study.systems[cell.app] ?? []) : []))
  const context = await prepareCluster(
    record,
    {
      images: [...new Set([...systems.flatMap((system) => frameworkOf(system) ?? []), FRONT_SERVICE])],
      tried: systems
        .slice(0, 1)
        .map((system) => (metadata, placement) => studyPod(metadata, placement, system)),
    },
    options,
  )
  fitTo(cells, context.record.nodes[0]?.cpus.length ?? 1)
  return new StudyPods(study, context)
}

function frameworkOf({ app }: System): string | undefined {
  return app?.package.replace(/^.*\//, '')
}

/** Why a system cannot be measured in a cluster. @returns a clause; null if it can */
export function whyNotInPods(system: System | undefined, { workload, generator }: Cell): string | null {
  if (system === undefined) return 'the study has no such system'
  if (workload === null) return 'a program on this machine measures it, and no load from another node'
  if (generator !== 'startgrid') return `${generator} does not run in a cluster`
  const { app, nginx } = system
  if (app !== undefined && !app.package.startsWith('apps/')) return `there is no image of ${app.package}`
  if ((app?.copies ?? 1) > 1) return 'several copies behind one NGINX are processes of one machine'
  if (app !== undefined && runtimeOf(app.package) === 'nginx')
    return 'the image of njs has one engine and one worker'
  if (nginx?.front.startsWith('fastcgi') || nginx?.front.endsWith('-socket'))
    return 'containers have no socket in common'
  if (nginx !== undefined && app === undefined && nginx.front !== 'return-200')
    return 'the image of NGINX has no configuration for it'
  if (nginx !== undefined && !['nginx', 'nginx-naive', 'return-200'].includes(nginx.front))
    return 'the image of NGINX has no configuration for it'
  return null
}

class StudyPods implements Environment {
  readonly cores = null
  readonly generator: GeneratorSource
  readonly facts: Environment['facts']
  readonly #study: Experiment
  readonly #context: ClusterContext
  #started = 0

  constructor(study: Experiment, context: ClusterContext) {
    const { generators, record, scouted } = context
    this.#study = study
    this.#context = context
    this.generator = generators.source
    const [servers] = record.nodes
    const versions = readVersions()
    const node = [...scouted.images.values()].find(({ says }) => /^v\d/.test(says))
    this.facts = {
      ...(servers !== undefined && { machine: servers.machine }),
      versions: {
        ...versions,
        node: node?.says.replace(/^v/, '') ?? versions.node,
        bun: scouted.images.get(imageOn('bun', scouted.images) ?? '')?.says ?? versions.bun,
      },
    }
  }

  async findProxy(cells: readonly Cell[]): Promise<NginxVersion | null> {
    const says = this.#context.scouted.images.get(FRONT_SERVICE)?.says ?? ''
    const nginx = { kind: 'kubernetes', version: /nginx\/(\S+)/.exec(says)?.[1] ?? 'unknown', njs: null }
    for (const cell of cells) cell.nginx = this.#systemOf(cell).nginx === undefined ? null : nginx
    return nginx
  }

  fingerprint(cell: Cell): string {
    const { scouted, generators } = this.#context
    const system = this.#systemOf(cell)
    const ids = [frameworkOf(system) ?? '', FRONT_SERVICE].map((image) => scouted.images.get(image)?.id)
    const { app, nginx } = system
    return fingerprint(
      ['bench/src/environments/kubernetes', 'nginx/conf'],
      [JSON.stringify({ app, nginx }), ...ids, generators.imageId],
    )
  }

  /** Each system once, however many races it is in. */
  async prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const proofs = new Map<string, Proof>()
    for (const [, own] of Map.groupBy(cells, ({ app }) => app)) {
      const [cell] = own
      if (cell === undefined || this.#context.signal.aborted) continue
      const proof = await this.#proveOne(cell)
      if (proof !== undefined) for (const { id } of own) proofs.set(id, proof)
    }
    return proofs
  }

  async #proveOne(cell: Cell): Promise<Proof | undefined> {
    const { role, id } = cell
    if (role === null) return undefined
    const { app } = this.#systemOf(cell)
    const isOfSystem = ({ directory, role: own }: (typeof APPS)[number]) =>
      own === role && directory.endsWith(`/${app?.package}`)
    const absent = APPS.find(isOfSystem)?.absent ?? []
    const subject = { role, proxied: cell.topology !== 'direct', absent }
    const found = await proveStarted([cell], {
      start: (own) => this.startServers(own),
      prove: (_, target) => proveInPod(this.#context, suiteProgram(urlOf(target), subject)),
      signal: this.#context.signal,
    })
    return found.get(id)
  }

  startCeiling(): Promise<CeilingServer | undefined> {
    return startCeiling(this.#context, `ceiling-${++this.#started}`)
  }

  /** A pod for each system: one that does not start is missing. */
  async startServers(cells: readonly Cell[]): Promise<Servers> {
    const { cluster, record } = this.#context
    const running = new Map<string, ServerPod>()
    const failures = new Map<string, string>()
    await Promise.all(
      cells.map(async (cell) => {
        try {
          running.set(cell.id, await startServerPod(this.#context, this.#podOf(cell)))
        } catch (error) {
          failures.set(cell.id, oneLine(error))
        }
      }),
    )
    const partsOf = (cell: Pick<Cell, 'topology'>) => ({
      app: APP,
      proxy: cell.topology === 'direct' ? null : FRONT_SERVICE,
    })
    const each = new Map(
      [...running].map(([id, pod]) => [
        id,
        new KubernetesServers({
          ...{ cluster, record, pod, partsOf },
          targetOf: ({ topology }) => ({
            host: pod.started.pod.status?.podIP ?? '',
            port: studyAddress(topology).port,
          }),
          engineOf: () => null,
        }),
      ]),
    )
    return new SystemsInPods(each, failures)
  }

  close(): Promise<void> {
    return closeCluster(this.#context)
  }

  #podOf(cell: Cell): V1Pod {
    const { run, placement } = this.#context
    const metadata = run.metadata(`servers-${++this.#started}`, 'servers')
    return studyPod(metadata, placement, this.#systemOf(cell))
  }

  #systemOf({ app }: Pick<Cell, 'app'>): System {
    const system = this.#study.systems[app]
    if (system === undefined) throw new Error(`The study ${this.#study.name} has no system ${app}.`)
    return system
  }
}

/** The systems of a race, each in a pod of its own. */
class SystemsInPods implements Servers {
  readonly #running: ReadonlyMap<string, KubernetesServers>
  readonly #failures: ReadonlyMap<string, string>

  constructor(running: ReadonlyMap<string, KubernetesServers>, failures: ReadonlyMap<string, string>) {
    this.#running = running
    this.#failures = failures
  }

  target(cell: Cell) {
    return this.#running.get(cell.id)?.target(cell)
  }

  whyMissing(cell: Cell): string {
    return this.#running.get(cell.id)?.whyMissing(cell) ?? `it did not start: ${this.#failures.get(cell.id)}`
  }

  engine(): null {
    return null
  }

  async whyEnded(cell: Cell): Promise<string | null> {
    return (await this.#running.get(cell.id)?.whyEnded(cell)) ?? null
  }

  beginAccount(cell: Cell) {
    const servers = this.#running.get(cell.id)
    if (servers === undefined) throw new Error(`${cell.id} does not run.`)
    return servers.beginAccount(cell)
  }

  async launches(cells: readonly Cell[]) {
    const own = await Promise.all(
      cells.map(async (cell) => this.#running.get(cell.id)?.launches([cell]) ?? []),
    )
    return own.flat()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((servers) => servers.stop()))
  }
}
