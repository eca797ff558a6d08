import { Agent, request } from 'node:http'
import os from 'node:os'
import { json } from 'node:stream/consumers'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { docker } from './command.ts'

/**
 * The parts of the Engine API (https://docs.docker.com/reference/api/engine/) that are needed beside or instead of the command: it responds
 * in 0.5 to 2 ms, where `docker stats` and `docker inspect` take 50 ms and more of a core.
 */
export class Engine {
  readonly #socketPath: string
  /** One connection per question that is asked at the same time, kept. */
  readonly #agent = new Agent({ keepAlive: true })

  /** @param socketPath the socket that the engine listens on */
  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /**
   * The engine of the current context (or of DOCKER_HOST).
   * @throws {UsageError} if it is reached otherwise than through a socket of this machine: then it runs elsewhere
   */
  static async connect(): Promise<Engine> {
    const host = (await docker(['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'])).trim()
    if (host.startsWith('unix://')) return new Engine(host.slice('unix://'.length))
    throw new UsageError(
      `Docker's engine is at ${host}, but --docker needs one on this machine: choose it with docker context use.`,
    )
  }

  info(): Promise<EngineInfo> {
    return this.#ask('GET', '/info')
  }

  /** @throws {EngineError} if there is none of that name */
  image(name: string): Promise<Image> {
    return this.#ask('GET', `/images/${name}/json`)
  }

  /** @param name or id; @throws {EngineError} if there is none of that name */
  container(name: string): Promise<Container> {
    return this.#ask('GET', `/containers/${name}/json`)
  }

  /** Containers that have a label, running or not. @param label `name` or `name=value` */
  containers(label: string): Promise<Labelled[]> {
    return this.#ask('GET', `/containers/json?all=true&filters=${filterOf(label)}`)
  }

  /** Networks that have a label. */
  networks(label: string): Promise<Labelled[]> {
    return this.#ask('GET', `/networks?filters=${filterOf(label)}`)
  }

  /** The accounts of a container's control group right now: `one-shot` does not wait a second for a second reading. */
  stats(name: string): Promise<Stats> {
    return this.#ask('GET', `/containers/${name}/stats?stream=false&one-shot=true`)
  }

  /** Ends and removes a container. One that has just gone does not matter. */
  async removeContainer(id: string): Promise<void> {
    await this.#ask('DELETE', `/containers/${id}?force=true&v=true`).catch(ignoreMissing)
  }

  /** @returns whether it is gone; not while a container is in it */
  async removeNetwork(id: string): Promise<boolean> {
    try {
      await this.#ask('DELETE', `/networks/${id}`)
      return true
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      return error.status !== FORBIDDEN
    }
  }

  /** Closes its connections. */
  close(): void {
    this.#agent.destroy()
  }

  #ask<Body>(method: string, path: string): Promise<Body> {
    const { promise, resolve, reject } = Promise.withResolvers<Body>()
    const timeout = AbortSignal.timeout(PATIENCE_MS)
    request(
      { socketPath: this.#socketPath, agent: this.#agent, method, path, signal: timeout },
      (response) => {
        const status = response.statusCode ?? 0
        if (status === 204) {
          response.resume().on('end', () => resolve(undefined as Body))
          return
        }
        json(response).then((body) => {
          if (status < 300) resolve(body as Body)
          else reject(new EngineError(status, (body as { message?: string }).message ?? `status ${status}`))
        }, reject)
      },
    )
      .once('error', reject)
      .end()
    return promise
  }
}

/** A busy machine takes its time; an engine that hangs must not hold a run for ever. */
const PATIENCE_MS = 30_000

function filterOf(label: string): string {
  return encodeURIComponent(JSON.stringify({ label: [label] }))
}

/** What the engine refused, in its own words. */
export class EngineError extends Error {
  override name = 'EngineError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A network in use. */
const FORBIDDEN = 403

const MISSING = [404, 409]

/** Missing, or just being removed. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof EngineError && MISSING.includes(error.status))) throw error
}

/** Whether the engine's kernel is this machine's, and not that of a virtual machine or of somewhere else. */
export function runsHere({ Name, KernelVersion }: EngineInfo): boolean {
  return Name === os.hostname() && KernelVersion === os.release()
}

export interface EngineInfo {
  ServerVersion: string
  OperatingSystem: string
  KernelVersion: string
  Architecture: string
  NCPU: number
  MemTotal: number
  /** Host name of the machine, or of the virtual machine that Docker Desktop keeps. */
  Name: string
}

export interface Image {
  Id: string
  Config: { Env: string[] | null }
}

export interface Container {
  Id: string
  State: {
    Status: string
    Running: boolean
    OOMKilled: boolean
    ExitCode: number
    /** Of its first process, as the engine's kernel numbers it; 0 if it has ended. */
    Pid: number
    Health?: { Status: 'starting' | 'healthy' | 'unhealthy' | 'none' }
  }
}

export interface Labelled {
  Id: string
  Labels: Record<string, string>
}

export interface Stats {
  cpu_stats: {
    cpu_usage: {
      /** Nanoseconds of all its processes, ended ones included; 0 if it does not run. */
      total_usage: number
    }
  }
}
