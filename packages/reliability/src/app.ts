import type { App } from '@startgrid/grid/apps.ts'
import { type LaunchOptions, launch, NEVER_SHED, type Startable } from '@startgrid/grid/launcher.ts'
import { serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Routes, Server } from './routes.ts'
import { Subject } from './subject.ts'

/** An app of the grid: its settings, its failing routes and its log are known as well. */
export class AppSubject extends Subject {
  readonly app: App
  readonly routes: Routes
  override readonly keepsIdle: boolean
  readonly #standIn: Startable | undefined

  /** @param standIn is started in place of the app and of its fixtures: a server with a known defect, in tests */
  constructor(app: App, nginx: Nginx, signal: AbortSignal, standIn?: Startable) {
    super(nginx, signal)
    this.app = app
    this.routes = routesOf(app)
    this.#standIn = standIn
    // NGINX before 1.27.4 closes idle connections at once when it stops.
    this.keepsIdle = app.runtime !== 'nginx' || nginx.keepaliveMinTimeout
  }

  async start(port = 0): Promise<Server> {
    const { drainDelayMs } = this.stopping
    // It hears of its end later than the clients do.
    const delay = drainDelayMs === 0 ? {} : { SHUTDOWN_DELAY_MS: String(drainDelayMs + 1_000) }
    const env = { ...NEVER_SHED, ...delay, PORT: String(port) }
    const { target, child, ready } = await this.launch({ env })
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
  async launch(options: LaunchOptions = {}, fixture: Startable = this.app) {
    const launched = await launch(this.#standIn ?? fixture, options)
    const { child } = launched
    this.atEnd(() => child.exitCode !== null || child.signalCode !== null || child.kill('SIGKILL'))
    return launched
  }

  /** As the app is deployed. */
  override front(upstream: Target, ...copies: readonly Target[]): Promise<Target> {
    const listen = { host: '127.0.0.1', port: 0 }
    return this.runNginx({ fronts: [{ name: 'app', topology: 'nginx', listen, upstream, copies }] })
  }
}

/** What an app of that role has. */
function routesOf({ role, absent, runtime }: App): Routes {
  // In a few milliseconds at most, because these clients test connections, not capacity.
  const path = { hello: '/json', ssr: '/?items=0', status: '/_/status' }[role]
  const page = { path, status: 200 }
  const light = { headers: [], health: '/livez', page, pages: [page] }
  if (role !== 'ssr' || runtime === 'nginx') return light
  const long = { ...light, download: { path: '/?items=1000', bytes: 100_000 } }
  return absent.includes('stream') ? long : { ...long, slow: { path: '/stream?delay=800', ms: 800 } }
}
