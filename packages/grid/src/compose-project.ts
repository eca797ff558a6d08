import { fileURLToPath } from 'node:url'
import { type Outcome, run } from '@startgrid/nginx/command.ts'

/** The services that Docker Compose has started from this repository's file. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Docker, Compose or the services are missing. The message is a sentence. */
export class ComposeError extends Error {
  override name = 'ComposeError'
}

export interface ComposeService {
  /** `fastify-ssr` */
  name: string
  containerId: string
  /** `running`, `exited`, `restarting` and the like. */
  state: string
  /** `healthy`, `unhealthy`, `starting`; empty without a healthcheck. */
  health: string
  ports: PublishedPort[]
}

export interface PublishedPort {
  /** Address on this machine, such as 127.0.0.1. */
  host: string
  /** In the container. */
  target: number
  published: number
}

/**
 * `docker compose` with these arguments, in the repository.
 * @param limitMs milliseconds until it is killed
 * @throws {ComposeError} with the last line that it said, if it fails
 */
export async function compose(args: readonly string[], limitMs = 60_000): Promise<string> {
  const { code, stdout, stderr } = await run(
    { file: 'docker', args: ['compose', ...args], cwd: ROOT },
    limitMs,
  )
  if (code === 0) return stdout
  const obstacle = await dockerObstacle()
  if (obstacle !== undefined) throw new ComposeError(obstacle)
  const why = stderr.trim().split('\n').at(-1) || `no response within ${limitMs / 1000} s`
  throw new ComposeError(`docker compose ${args[0]} failed: ${why}`)
}

/** Why this machine cannot run containers, as a sentence that says what to do; undefined if it can. */
export async function dockerObstacle(): Promise<string | undefined> {
  const engine = await docker('version', '--format', '{{.Server.Version}}')
  if (engine.stderr.includes('ENOENT')) return 'There is no docker command: install Docker.'
  if (engine.code !== 0) return 'No Docker engine responds: start Docker.'
  const plugin = await docker('compose', 'version', '--short')
  return plugin.code === 0 ? undefined : 'Docker has no Compose: install its plugin (docker-compose-plugin).'
}

function docker(...args: string[]): Promise<Outcome> {
  return run({ file: 'docker', args })
}

/**
 * The services that were started, including those that have ended. Compose chooses the project: COMPOSE_PROJECT_NAME, or the name of the
 * directory.
 * @throws {ComposeError}
 */
export async function listServices(): Promise<ComposeService[]> {
  const lines = await compose(['ps', '--all', '--format', 'json'])
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => toService(JSON.parse(line) as ListedService))
}

/** A line of `docker compose ps --format json`. */
interface ListedService {
  Service: string
  ID: string
  State: string
  Health: string
  Publishers: { URL: string; TargetPort: number; PublishedPort: number }[] | null
}

function toService({ Service, ID, State, Health, Publishers }: ListedService): ComposeService {
  const ports = (Publishers ?? [])
    .filter(({ PublishedPort }) => PublishedPort > 0)
    .map(({ URL: host, TargetPort: target, PublishedPort: published }) => ({ host, target, published }))
  return { name: Service, containerId: ID, state: State, health: Health, ports }
}
