import { setTimeout as sleep } from 'node:timers/promises'
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
  readonly #standIn: Startable | undefined
  readonly #launches = new Set<Launch>()

  constructor({ app, nginx, signal, standIn }: AppSubjectOptions) {
    super(nginx, signal)
    this.app = app
    this.nginx = nginx
    this.routes = routesOf(app)
    this.#standIn = standIn
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
