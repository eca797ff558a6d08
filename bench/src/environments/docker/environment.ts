import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { type Cpu, readCpus } from '@startgrid/machine/cpus.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { NginxVersion } from '../../model/provenance.ts'
import { readProof, suiteWords } from '../conformance.ts'
import {
  type Contract,
  type Environment,
  type EnvironmentOptions,
  frameworkOf,
  isInNginx,
  type Proof,
  type Server,
  systemOf,
} from '../environment.ts'
import { DockerError, readComposeFile, requireDocker, runDocker } from './command.ts'
import { Engine, EngineError, type EngineInfo, runsHere } from './engine.ts'
import { buildImages, describeContainers, findNjsEngine, type Images, variableOf } from './images.ts'
import {
  beginRun,
  type DockerRun,
  endRun,
  GENERATOR_IMAGE,
  GENERATOR_SERVICE,
  generatorIn,
  labelOptions,
  removeLeftovers,
} from './run.ts'
import { startContainers } from './servers.ts'

/**
 * Servers, NGINX and generator are containers of one network. Gets everything ready that lasts for the whole run: images, network, and what killed
 * runs left is removed.
 * @throws {UsageError} with a sentence: no engine, no Compose, an image that cannot be built, or what else Docker refuses
 */
export async function openDocker(
  experiment: Experiment,
  cells: readonly Cell[],
  options: EnvironmentOptions,
): Promise<Environment> {
  try {
    return await open(experiment, cells, options)
  } catch (error) {
    if (error instanceof DockerError || error instanceof EngineError)
      throw new UsageError(`--docker cannot be used here: ${oneLine(error)}.`)
    throw error
  }
}

async function open(
  experiment: Experiment,
  cells: readonly Cell[],
  { warn, progress, signal }: EnvironmentOptions,
): Promise<Environment> {
  await requireDocker()
  const engine = await Engine.connect()
  await removeLeftovers(engine)
  const [info, file] = [await engine.info(), await readComposeFile()]
  const systems = cells.map((cell) => systemOf(experiment, cell))
  const frameworks = [...new Set(systems.flatMap((system) => frameworkOf(system) ?? []))]
  const images = await buildImages({ engine, file, frameworks, progress, signal })
  const facts = await describeContainers(info, images)
  const needsNjs = systems.some(isInNginx)
  const needsNginx = needsNjs || systems.some(({ nginx }) => nginx !== undefined)
  const nginx = needsNginx ? await nginxIn(images, needsNjs) : null
  const njsEngine = nginx?.njs ? `${nginx.njs.engine} in NGINX ${nginx.version}` : undefined
  const cores = chooseCores(warn, cpusOf(info))
  const run = await beginRun()
  return {
    cores,
    generator: generatorIn(run, cores?.generator),
    facts,
    nginx,
    hasCeiling: true,
    // Images say it all, but for the configuration of the NGINX in front, which is made for each heat.
    ingredients: (cell) => ({
      files: ['docker-compose.yml', 'bench/src/environments/docker', 'nginx/conf'],
      facts: [frameworkOf(systemOf(experiment, cell)) ?? '', FRONT_SERVICE, GENERATOR_SERVICE].map(
        (image) => images.get(image)?.Id,
      ),
    }),
    start: (own, { pinned }) =>
      startContainers(own, {
        ...{ engine, run, file, experiment, njsEngine, signal },
        cores: pinned ? cores : null,
      }),
    prove: (server, contract) => prove(server, contract, { run, signal }),
    close: async () => {
      // What an engine does not remove now, the next run removes.
      await endRun(engine, run).catch(() => {})
      engine.close()
    },
  }
}

async function nginxIn(images: Images, hasNjs: boolean): Promise<NginxVersion> {
  const image = images.get(FRONT_SERVICE)
  const version = variableOf(image, 'NGINX_VERSION') ?? 'unknown'
  if (!hasNjs) return { kind: 'docker', version, njs: null }
  const njs = {
    version: variableOf(image, 'NJS_VERSION') ?? 'unknown',
    engine: await findNjsEngine(images),
  }
  return { kind: 'docker', version, njs }
}

const SUITE_LIMIT_MS = 120_000

/** In a container of its own, where the names of services have addresses. */
async function prove(
  { target }: Server,
  contract: Contract,
  { run, signal }: { run: DockerRun; signal: AbortSignal },
): Promise<Proof> {
  const words = ['--entrypoint', 'node', GENERATOR_IMAGE, ...suiteWords(target, contract)]
  const { stdout, stderr } = await runDocker(
    ['run', '--rm', '--pull', 'never', '--network', run.name, ...labelOptions(run), ...words],
    { signal, limitMs: SUITE_LIMIT_MS },
  )
  return readProof(stdout, stderr)
}

/**
 * The cores of the engine's machine. If that is this one, its kernel tells them apart; in a virtual machine they are all alike, as far as
 * one can see.
 */
function cpusOf(info: EngineInfo): Cpu[] {
  if (runsHere(info)) return readCpus()
  return Array.from({ length: info.NCPU }, (_, number) => ({ number, siblings: [number], speed: 1 }))
}
