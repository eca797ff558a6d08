import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '@startgrid/grid/apps.ts'
import { type Launch, type LaunchOptions, launch, type Startable } from '@startgrid/grid/launcher.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { Clients, type ClientsOptions } from './clients.ts'
import { nearEnd, openLink } from './link.ts'

interface SubjectOptions {
  readonly app: App
  readonly nginx: Nginx
  /** Aborted when a person interrupts. */
  readonly signal: AbortSignal
  /** What is started in place of the app and of its fixtures: a server with a known defect, in tests. */
  readonly standIn?: Startable
}

/** One app under one fault. Whatever was started through it ends with it. */
export class Subject {
  readonly app: App
  readonly nginx: Nginx
  readonly signal: AbortSignal
  readonly #standIn: Startable | undefined
  readonly #launches = new Set<Launch>()
  readonly #instances = new Set<Instance>()
  readonly #links = new Set<Server>()
  readonly #clients = new Set<Clients>()

  constructor({ app, nginx, signal, standIn }: SubjectOptions) {
    this.app = app
    this.nginx = nginx
    this.signal = signal
    this.#standIn = standIn
  }

  /** Starts the app, or a fixture made from it, on a free port. @throws {LaunchError} */
  async launch(options: LaunchOptions = {}, fixture: Startable = this.app): Promise<Launch> {
    const launched = await launch(this.#standIn ?? fixture, options)
    this.#launches.add(launched)
    return launched
  }

  /** Starts an NGINX with two workers in front of an app and its copies. @returns where it listens @throws {Error} one sentence */
  async front(upstream: Target, ...copies: readonly Target[]): Promise<Target> {
    const listen = { host: '127.0.0.1', port: 0 }
    const fronts = [{ name: 'app', topology: 'nginx', listen, upstream, copies }] as const
    const instance = await startNginx(this.nginx, { fronts, workers: 2 })
    this.#instances.add(instance)
    return instance.addresses[0] ?? listen
  }

  /** What NGINX has logged. */
  errors(): string {
    return [...this.#instances].map((instance) => instance.errors()).join('')
  }

  /** @returns where a link of 15 ms one way begins, as between two cities; it ends at `target` */
  async link(target: Target): Promise<Target> {
    const link = await openLink(target, 15)
    this.#links.add(link)
    return nearEnd(link)
  }

  /** Starts clients, which end with the subject at the latest: also when a fault throws. */
  clients(options: ClientsOptions): Clients {
    const clients = new Clients(options)
    this.#clients.add(clients)
    return clients
  }

  /** Ends what still runs. */
  async end(): Promise<void> {
    for (const clients of this.#clients) void clients.stop()
    await Promise.all([...this.#instances].map((instance) => instance.stop(1_000)))
    for (const link of this.#links) link.close()
    for (const { child } of this.#launches) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
  }
}

/** A failure that happens in production, and what an app must do then: a row of the matrix, and of docs/reliability.md. */
export interface Fault {
  /** Its name on the command line: `sigterm`. */
  readonly name: string
  /** Apps that may be tried at the same time without disturbing each other. */
  readonly atOnce: number
  /** Why this app cannot be tried, as a sentence; undefined if it can. */
  absent?(app: App): string | undefined
  /** Tries one app. @returns what went wrong, a sentence each; a thrown error counts as one */
  run(subject: Subject): Promise<string[]>
}

/** For `Subject.launch`: more time to drain than the default, which a busy machine may exceed. */
export const PATIENT = { SHUTDOWN_TIMEOUT_MS: '60000' }

/**
 * Sends an app a stop signal, and waits for its end.
 * @param limitMs milliseconds, more than the app's own deadline
 * @returns findings; empty if the exit code is the expected one
 */
export async function findBadEnding(
  { app, stop, output }: Pick<Launch, 'app' | 'stop' | 'output'>,
  expected: number,
  limitMs = 90_000,
): Promise<string[]> {
  const timer = new AbortController()
  const late = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const code = await Promise.race([stop(), late])
  timer.abort()
  if (code === expected) return []
  const how =
    code === 'late' ? `still runs ${limitMs / 1000} s after SIGTERM` : `ended with ${code ?? 'a signal'}`
  const line = output().trim().split('\n').at(-1) ?? ''
  return [`${app.name} ${how}; it should end with ${expected}. Its last line: ${line.slice(0, 300)}`]
}
