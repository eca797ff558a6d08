import type { App } from '@startgrid/grid/apps.ts'
import { type Launch, type LaunchOptions, launch, type Startable } from '@startgrid/grid/launcher.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { Clients, type ClientsOptions } from '../clients/clients.ts'

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
    for (const { child } of this.#launches) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
  }
}
