import type { App, Role } from '@startgrid/grid/apps.ts'
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
import type { Routes, Server } from './routes.ts'
import { type Fault, Row, Subject } from './subject.ts'

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
  async launch(options: LaunchOptions = {}, fixture: Startable = this.app): Promise<Launch> {
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

/** A path of each role that takes a few milliseconds at most, because these clients test connections, not capacity. */
export const LIGHT: Readonly<Record<Role, string>> = {
  hello: '/json',
  ssr: '/?items=0',
  status: '/_/status',
}

/** What an app of that role has. */
function routesOf({ role, absent, runtime }: App): Routes {
  const page = { path: LIGHT[role], status: 200 }
  const light = { headers: [], health: '/livez', page, pages: [page] }
  if (role !== 'ssr' || runtime === 'nginx') return light
  const long = { ...light, download: { path: '/?items=1000', bytes: 100_000 } }
  return absent.includes('stream') ? long : { ...long, slow: { path: '/stream?delay=800', ms: 800 } }
}

/**
 * What needs the settings, the failing routes or the log of an app.
 * @param right what it does then, if nothing is wrong
 * @param find what goes wrong, a sentence each; or why this app cannot be tried
 */
export function faultOfApps(
  name: string,
  { right, ...how }: { seconds: number; isAlone?: true; right: string },
  find: (subject: AppSubject) => Promise<Iterable<string> | { untested: string }>,
): Fault<AppSubject> {
  const row = new Row(name)
  const run = async (subject: AppSubject) => {
    const found = await find(subject)
    if ('untested' in found) return [row.untested(found.untested)]
    const problems = [...found].map((problem) => row.certain('fails', problem))
    return problems.length > 0 ? problems : [row.fine(right)]
  }
  return { name, ...how, run }
}
