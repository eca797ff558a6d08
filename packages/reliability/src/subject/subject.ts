import type { App } from '@startgrid/grid/apps.ts'
import { type Launch, type LaunchOptions, launch, type Startable } from '@startgrid/grid/launcher.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { Clients, type ClientsOptions } from '../clients/clients.ts'

/** How much is tried: a sample, or all. */
export type Size = 'short' | 'full'

interface SubjectOptions {
  readonly app: App
  readonly size: Size
  /** Without one nothing is tried behind NGINX. */
  readonly nginx: Nginx | undefined
  readonly signal: AbortSignal
  /** Of everything that is chosen at random; default 1. */
  readonly seed?: number
  /** What is started in place of the app and of its fixtures: a server with a known defect, in tests. */
  readonly standIn?: Startable
}

/** One app under one fault. Whatever was started through it ends with it. */
export class Subject {
  readonly app: App
  /** `short` in CI, `full` for the report. */
  readonly size: Size
  readonly nginx: Nginx | undefined
  /** Aborted when a person interrupts. */
  readonly signal: AbortSignal
  readonly seed: number
  readonly #standIn: Startable | undefined
  readonly #launches = new Set<Launch>()
  readonly #instances = new Set<Instance>()
  readonly #clients = new Set<Clients>()

  constructor({ app, size, nginx, signal, seed = 1, standIn }: SubjectOptions) {
    this.app = app
    this.size = size
    this.nginx = nginx
    this.signal = signal
    this.seed = seed
    this.#standIn = standIn
  }

  /** Starts the app, or a fixture made from it, on a free port. @throws {LaunchError} */
  async launch(options: LaunchOptions = {}, fixture: Startable = this.app): Promise<Launch> {
    const launched = await launch(this.#standIn ?? fixture, options)
    this.#launches.add(launched)
    return launched
  }

  /**
   * Starts an NGINX with these fronts.
   * @param accessLog an `access_log` value, relative to the instance's `dir`; default none
   * @throws {Error} one sentence; without an NGINX too
   */
  async front(fronts: readonly Front[], workers = 1, accessLog = 'off'): Promise<Instance> {
    if (this.nginx === undefined) throw new Error('There is no NGINX to put in front.')
    const instance = await startNginx(this.nginx, { fronts, workers, accessLog })
    this.#instances.add(instance)
    return instance
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
