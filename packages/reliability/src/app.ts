import type { App } from '@startgrid/grid/apps.ts'
import {
  type Launch,
  type LaunchOptions,
  launch,
  NEVER_SHED,
  type Startable,
} from '@startgrid/grid/launcher.ts'
import { serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { LIGHT } from './clients.ts'
import type { Routes, Server } from './routes.ts'
import { type Fault, Subject } from './subject.ts'

interface AppSubjectOptions {
  readonly app: App
  readonly nginx: Nginx
  readonly signal: AbortSignal
  /** What is started in place of the app and of its fixtures: a server with a known defect, in tests. */
  readonly standIn?: Startable
}

/** An app of the grid: its settings, its failing routes and its log are known as well. */
export class AppSubject extends Subject {
  readonly app: App
  override readonly nginx: Nginx
  readonly routes: Routes
  override readonly keepsIdle: boolean
  readonly #standIn: Startable | undefined
  readonly #launches = new Set<Launch>()

  constructor({ app, nginx, signal, standIn }: AppSubjectOptions) {
    super(nginx, signal)
    this.app = app
    this.nginx = nginx
    this.routes = routesOf(app)
    this.#standIn = standIn
    // NGINX before 1.27.4 closes idle connections at once when it stops.
    this.keepsIdle = app.runtime !== 'nginx' || nginx.keepaliveMinTimeout
  }

  async start(port = 0): Promise<Server> {
    const { target, child, ready } = await this.launch({ env: { ...NEVER_SHED, PORT: String(port) } })
    const { pid = 0 } = child
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    return {
      target,
      pid,
      pids: () => (hasEnded() ? [] : serverPids({ ready })),
      whyEnded: () => (hasEnded() ? `it ended with ${child.exitCode ?? child.signalCode}` : undefined),
    }
  }

  /** Starts the app, or a fixture made from it, on a free port. @throws {LaunchError} */
  async launch(options: LaunchOptions = {}, fixture: Startable = this.app): Promise<Launch> {
    const launched = await launch(this.#standIn ?? fixture, options)
    this.#launches.add(launched)
    return launched
  }

  /** As the app is deployed. */
  override front(upstream: Target, ...copies: readonly Target[]): Promise<Target> {
    const listen = { host: '127.0.0.1', port: 0 }
    return this.runNginx({ fronts: [{ name: 'app', topology: 'nginx', listen, upstream, copies }] })
  }

  protected async endServers(): Promise<void> {
    for (const { child } of this.#launches) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
  }
}

/** What an app of that role has. */
function routesOf({ role, absent, runtime }: App): Routes {
  const light = { headers: [], health: '/livez', pages: [{ path: LIGHT[role], status: 200 }] }
  if (role !== 'ssr' || runtime === 'nginx') return light
  if (absent.includes('stream')) return { ...light, download: { path: '/?items=1000', bytes: 100_000 } }
  return {
    ...light,
    download: { path: '/?items=1000', bytes: 100_000 },
    slow: { path: '/stream?delay=800', ms: 800 },
  }
}

/** A row of the matrix: what is tried on any server, what an app must do beyond that, or both. */
export interface AppFault extends Omit<Fault, 'run'>, Partial<Pick<Fault, 'run'>> {
  /** Why this app cannot be tried, as a sentence; undefined if it can. */
  absent?(app: App): string | undefined
  /** What needs the settings, the failing routes or the log of an app. @returns what went wrong, a sentence each; a thrown error counts as one */
  runOnApp?(subject: AppSubject): Promise<string[]>
}
