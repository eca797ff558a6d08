import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { type Cpu, readCpus } from '@startgrid/machine/cpus.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import type { CeilingServer } from '../../drivers/ceiling.ts'
import { appOf, isInNginx } from '../../experiment/cells.ts'
import type { Cell, NginxVersion, Settings } from '../../model/result.ts'
import { proveStarted } from '../conformance.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { readProof, suiteWords, urlOf } from '../suite-elsewhere.ts'
import { type ContainerProcesses, visibleProcesses } from './account.ts'
import { DockerError, runDocker } from './command.ts'
import { readComposeFile, requireDocker } from './compose.ts'
import { Engine, EngineError, type EngineInfo, runsHere } from './engine.ts'
import { describeContainers, findNjsEngine } from './facts.ts'
import { CEILING } from './front.ts'
import { GENERATOR_IMAGE, GENERATOR_SERVICE, generatorIn } from './generator.ts'
import { startHeat } from './heat.ts'
import { buildImages, type Images, variableOf } from './images.ts'
import type { ComposeFile } from './project.ts'
import { beginRun, type DockerRun, endRun, labelOptions, removeLeftovers } from './run.ts'
import { DockerServers } from './servers.ts'

/**
 * Gets everything ready that lasts for the whole run: images, network, and what killed runs left is removed.
 * @throws {UsageError} with a sentence: no engine, no Compose, an image that cannot be built, or what else Docker refuses
 */
export async function openDocker(cells: readonly Cell[], options: EnvironmentOptions): Promise<Environment> {
  try {
    return await prepare(cells, options)
  } catch (error) {
    if (error instanceof DockerError || error instanceof EngineError)
      throw new UsageError(`--docker cannot be used here: ${oneLine(error)}.`)
    throw error
  }
}

async function prepare(
  cells: readonly Cell[],
  { warn, progress, signal }: EnvironmentOptions,
): Promise<Environment> {
  await requireDocker()
  const engine = await Engine.connect()
  await removeLeftovers(engine)
  const [info, file] = [await engine.info(), await readComposeFile()]
  const images = await buildImages({ engine, file, apps: appsOf(cells), progress, signal })
  const facts = await describeContainers(info, images)
  const cores = chooseCores(warn, cpusOf(info))
  const run = await beginRun()
  return new DockerEnvironment({ engine, file, images, facts, cores, run, signal })
}

interface Context {
  engine: Engine
  file: ComposeFile
  images: Images
  facts: Environment['facts']
  cores: Settings['cores']
  run: DockerRun
  signal: AbortSignal
}

const SUITE_LIMIT_MS = 120_000

/** Servers, NGINX and generator are containers of one network. */
class DockerEnvironment implements Environment {
  readonly cores: Settings['cores']
  readonly generator: GeneratorOptions
  readonly facts: Environment['facts']
  readonly #context: Context
  #njsEngine: string | null = null

  constructor(context: Context) {
    this.#context = context
    this.cores = context.cores
    this.facts = context.facts
    this.generator = generatorIn(context.run, context.cores?.generator)
  }

  async findProxy(cells: readonly Cell[]): Promise<NginxVersion | null> {
    const hasNjs = cells.some(isInNginx)
    if (!hasNjs && cells.every(({ topology }) => topology === 'direct')) return null
    const image = this.#context.images.get(FRONT_SERVICE)
    const version = variableOf(image, 'NGINX_VERSION') ?? 'unknown'
    if (!hasNjs) return { kind: 'docker', version, njs: null }
    const engine = await findNjsEngine(this.#context.images)
    this.#njsEngine = `${engine} in NGINX ${version}`
    const njs = { version: variableOf(image, 'NJS_VERSION') ?? 'unknown', engine }
    return { kind: 'docker', version, njs }
  }

  /** Images say it all, but for the configuration of the NGINX in front, which is made for each heat. */
  fingerprint({ app, topology }: Cell): string {
    const { images } = this.#context
    const name = app.replace(/#\d+$/, '')
    const [framework = ''] = name.split('/')
    const ids = [framework, FRONT_SERVICE, GENERATOR_SERVICE].map((image) => images.get(image)?.Id)
    return fingerprint(
      ['docker-compose.yml', 'bench/src/environments/docker', 'nginx/conf'],
      ['docker', name, topology, ...ids],
    )
  }

  /** On all cores, and one role after the other: the containers of all would be too many. */
  async prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const proofs = new Map<string, Proof>()
    for (const own of Map.groupBy(cells, ({ role }) => role).values()) {
      if (this.#context.signal.aborted) break
      for (const [id, proof] of await this.#proveRole(own)) proofs.set(id, proof)
    }
    return proofs
  }

  #proveRole(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const { run, signal } = this.#context
    return proveStarted(cells, {
      start: (own) => this.#start(own, null),
      // In containers of its own, where the names of services have addresses.
      prove: async (cell, target) => {
        const words = ['--entrypoint', 'node', GENERATOR_IMAGE, ...suiteWords(cell, urlOf(target))]
        const { stdout, stderr } = await runDocker(
          ['run', '--rm', '--pull', 'never', '--network', run.name, ...labelOptions(run), ...words],
          { signal, limitMs: SUITE_LIMIT_MS },
        )
        return readProof(stdout, stderr)
      },
      signal,
    })
  }

  async startCeiling(): Promise<CeilingServer | undefined> {
    const { signal, cores } = this.#context
    if (signal.aborted) return undefined
    const { stop } = await startHeat({ ...this.#context, apps: [], proxied: true, cpu: cores?.server })
    return { target: CEILING, stop }
  }

  startServers(cells: readonly Cell[]): Promise<Servers> {
    return this.#start(cells, this.cores)
  }

  async close(): Promise<void> {
    const { engine, run } = this.#context
    // What an engine does not remove now, the next run removes.
    await endRun(engine, run).catch(() => {})
    engine.close()
  }

  async #start(cells: readonly Cell[], cores: Settings['cores']): Promise<Servers> {
    const { engine } = this.#context
    const apps = appsOf(cells)
    const proxied = cells.some(({ topology }) => topology !== 'direct')
    const containers = await startHeat({ ...this.#context, apps, proxied, cpu: cores?.server })
    const generator = await this.#findGenerator()
    return new DockerServers({ engine, containers, apps, generator, cores, njsEngine: this.#njsEngine })
  }

  async #findGenerator(): Promise<ContainerProcesses> {
    const { engine, run } = this.#context
    const found = await engine.container(run.generator).catch(() => undefined)
    const pids = found && visibleProcesses(found.Id, found.State.Pid)
    return { container: run.generator, pids }
  }
}

/** Under the names of cells, twins included. */
function appsOf(cells: readonly Cell[]): App[] {
  return [...new Map(cells.map((cell) => [cell.app, appOf(cell)])).values()]
}

/**
 * The cores of the engine's machine. If that is this one, its kernel tells them apart; in a virtual machine they are all alike, as far as
 * one can see.
 */
function cpusOf(info: EngineInfo): Cpu[] {
  if (runsHere(info)) return readCpus()
  return Array.from({ length: info.NCPU }, (_, number) => ({ number, siblings: [number], speed: 1 }))
}
