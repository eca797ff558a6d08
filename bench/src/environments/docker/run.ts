import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { exists } from '@startgrid/machine/processes.ts'
import { docker } from './command.ts'
import type { Engine, Labelled } from './engine.ts'

/** Everything that one run of the benchmark has in Docker, known by its labels: what a killed run left is found and removed by the next. */

/** Which run a container or network belongs to, and who may say that it is over: process id and host name. */
const RUN_LABEL = 'startgrid.bench'
const OWNER_LABEL = 'startgrid.bench.owner'

/** Below the checkout, which Compose mounts from anyway: Docker Desktop and its like do not share all directories of a machine. */
const PLACE = fileURLToPath(new URL('../../../.cache/docker/', import.meta.url))

export interface DockerRun {
  /** Name of the network, and of the Compose project of the heat in progress. */
  name: string
  /** Name of the generator's container. */
  generator: string
  labels: Readonly<Record<string, string>>
  /** For the files of heats. */
  directory: string
}

/** Makes the network in which generator and servers meet. @throws {DockerError} if the engine refuses */
export async function beginRun(): Promise<DockerRun> {
  const id = `${process.pid}-${Date.now().toString(36)}`
  const name = `startgrid-bench-${id}`
  const run = {
    name,
    generator: `${name}-generator`,
    labels: { [RUN_LABEL]: id, [OWNER_LABEL]: `${process.pid}@${os.hostname()}` },
    directory: `${PLACE}${id}/`,
  }
  mkdirSync(run.directory, { recursive: true })
  await docker(['network', 'create', ...labelOptions(run), name])
  return run
}

/** For `docker run` and its like. */
export function labelOptions({ labels }: Pick<DockerRun, 'labels'>): string[] {
  return Object.entries(labels).flatMap(([label, value]) => ['--label', `${label}=${value}`])
}

/** Removes all that a run has. */
export async function endRun(engine: Engine, { labels, directory }: DockerRun): Promise<void> {
  const label = `${RUN_LABEL}=${labels[RUN_LABEL]}`
  await remove(engine, await engine.containers(label), await engine.networks(label))
  rmSync(directory, { recursive: true, force: true })
}

/** Removes what runs left that were killed. Those of another machine that uses the same engine are not ours to judge. */
export async function removeLeftovers(engine: Engine): Promise<void> {
  const [containers, networks] = [await engine.containers(OWNER_LABEL), await engine.networks(OWNER_LABEL)]
  await remove(engine, containers.filter(isOrphan), networks.filter(isOrphan))
  const directories = existsSync(PLACE) ? readdirSync(PLACE) : []
  for (const name of directories) {
    if (!exists(Number.parseInt(name, 10))) rmSync(`${PLACE}${name}`, { recursive: true, force: true })
  }
}

/** Containers first: a network that is in use stays. */
async function remove(
  engine: Engine,
  containers: readonly Labelled[],
  networks: readonly Labelled[],
): Promise<void> {
  await Promise.all(containers.map(({ Id }) => engine.removeContainer(Id)))
  await Promise.all(networks.map(({ Id }) => removeNetwork(engine, Id)))
}

/** A container that is just going keeps its network for a moment. One that stays in use is left to the next run. */
async function removeNetwork(engine: Engine, id: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    if (await engine.removeNetwork(id)) return
    await sleep(100)
  }
}

function isOrphan({ Labels }: Labelled): boolean {
  const [pid, host] = Labels[OWNER_LABEL]?.split('@') ?? []
  return host === os.hostname() && !exists(Number(pid))
}

/** The load generator, and the contract's suite: docker/loadgen.Dockerfile. */
export const GENERATOR_IMAGE = 'startgrid/loadgen'

/** The service of docker-compose.yml that builds it. */
export const GENERATOR_SERVICE = 'loadgen'

/**
 * How the generator is started as a container beside the servers. It ends with its standard input, so also with this process, and is
 * removed then.
 * @param cpu the only core that it may use
 */
export function generatorIn(run: DockerRun, cpu: number | undefined): GeneratorOptions {
  return {
    reach: 'network',
    command: [
      ...(['docker', 'run', '--rm', '--interactive', '--init', '--pull', 'never'] as const),
      ...['--name', run.generator, '--network', run.name, ...labelOptions(run)],
      ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
      ...(cpu === undefined ? [] : ['--cpuset-cpus', String(cpu)]),
      GENERATOR_IMAGE,
    ],
  }
}
