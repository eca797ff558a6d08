import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Options } from '@startgrid/conformance/runner.ts'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import {
  APP_PORT,
  COMPOSE_TOPOLOGIES,
  type ComposeTopology,
  FRONT_SERVICE,
  publishedPort,
  serviceName,
} from '@startgrid/grid/compose.ts'

/** The services that Docker Compose has started from this repository's file. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Docker, Compose or the services are missing. The message is a sentence. */
export class ComposeError extends Error {
  override name = 'ComposeError'
}

/** A line of `docker compose ps --format json`. */
export interface ComposeService {
  /** `fastify-ssr` */
  Service: string
  ID: string
  /** `running`, `exited`, `restarting` and the like. */
  State: string
  /** `healthy`, `unhealthy`, `starting`; empty without a healthcheck. */
  Health: string
  Publishers: { URL: string; TargetPort: number; PublishedPort: number }[]
}

/**
 * `docker compose` with these arguments, in the repository.
 * @param timeout milliseconds until it is killed
 * @throws {ComposeError} with the last line that it said, if it fails
 */
export async function compose(args: readonly string[], timeout = 60_000): Promise<string> {
  try {
    const options = { cwd: ROOT, timeout, maxBuffer: 1e8 }
    return (await promisify(execFile)('docker', ['compose', ...args], options)).stdout
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1)
    const why = said || `no response within ${timeout / 1000} s`
    throw new ComposeError((await dockerObstacle()) ?? `docker compose ${args[0]} failed: ${why}`)
  }
}

/** Why this machine cannot run containers, as a sentence that says what to do; undefined if it can. */
export async function dockerObstacle(): Promise<string | undefined> {
  const docker = (...args: string[]) => promisify(execFile)('docker', args)
  try {
    await docker('version', '--format', '{{.Server.Version}}')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'There is no docker command: install Docker.'
      : 'No Docker engine responds: start Docker.'
  }
  const sentence = 'Docker has no Compose: install its plugin (docker-compose-plugin).'
  return docker('compose', 'version', '--short').then(
    () => undefined,
    () => sentence,
  )
}

/**
 * The services that were started, including those that have ended. Compose chooses the project: COMPOSE_PROJECT_NAME, or the name of the
 * directory.
 * @throws {ComposeError}
 */
export async function listServices(): Promise<ComposeService[]> {
  const lines = (await compose(['ps', '--all', '--format', 'json'])).trim()
  const services = lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line) as ComposeService)
  return services.map(({ Publishers, ...service }) => ({
    ...service,
    Publishers: (Publishers ?? []).filter(({ PublishedPort }) => PublishedPort > 0),
  }))
}

/** One of the two ports of an app, and what the suite must know about it; no options if nothing runs there. */
export interface Cell {
  app: App
  topology: ComposeTopology
  options: (Options & { target: { host: string; port: number } }) | undefined
}

/** Both ports of every app that Compose has started. */
export function listCells(services: readonly ComposeService[]): Cell[] {
  const find = (name: string) => services.find(({ Service }) => Service === name)
  return APPS.filter((app) => find(serviceName(app))).flatMap((app) =>
    COMPOSE_TOPOLOGIES.map((topology) => {
      const isBehind = topology === 'nginx'
      const service = find(isBehind ? FRONT_SERVICE : serviceName(app))
      const inside = isBehind ? publishedPort(app, topology) : APP_PORT
      const port = service?.Publishers.find(({ TargetPort }) => TargetPort === inside)
      if (service?.State !== 'running' || port === undefined) return { app, topology, options: undefined }
      const target = { host: port.URL, port: port.PublishedPort }
      const { role, absent } = app
      return { app, topology, options: { target, role, absent, compressed: isBehind } }
    }),
  )
}
