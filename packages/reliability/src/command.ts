import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { capital } from '@startgrid/cli/text.ts'
import { until } from '@startgrid/cli/until.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { readOr } from '@startgrid/machine/proc.ts'
import { isRunning, listenersOf } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { startCommand } from '@startgrid/servers/command.ts'
import { ask } from './clients.ts'
import { findRoutes, type Named, type Routes, type Server } from './routes.ts'
import { type Fault, type Finding, type Stopping, Subject, tryFaults } from './subject.ts'

/** How anybody's server is started. */
export interface CommandOptions {
  readonly command: string
  /** Where it runs. */
  readonly directory: string
  readonly guard: Guard
  readonly nginx: Nginx | undefined
  readonly signal: AbortSignal
  readonly stopping: Stopping
  readonly readyTimeoutMs: number | undefined
  /** Says something of the server to the person. */
  tell(text: string): void
}

/** Anybody's server, in any language. */
class CommandSubject extends Subject {
  readonly routes: Routes
  readonly #options: CommandOptions

  /** @param routes unknown at first */
  constructor(
    options: CommandOptions,
    routes: Routes = { headers: [], health: '', page: { path: '/', status: 200 }, pages: [] },
  ) {
    super(options.nginx, options.signal)
    this.routes = routes
    this.#options = options
    this.stopping = options.stopping
  }

  async start(port?: number): Promise<Server> {
    const isElsewhere = (place: string) => {
      this.elsewhere = place
    }
    const server = await startCommand(this.#options, {
      ...this.#options,
      cpus: undefined,
      isElsewhere,
      graceMs: 100,
      port,
    })
    this.atEnd(server.stop)
    const { target, whyEnded, pids } = server
    const [pid = 0] = server.launched.groups
    const { health, headers } = this.routes
    const isReady = async () =>
      (await ask(target, { target: health, headers })).error === undefined || whyEnded() !== undefined
    if (health !== '') await until(`${health} is not responded to`, isReady)
    return { target, pid, whyEnded, pids }
  }
}

/** What was found, in the order of the faults. */
export interface Survey {
  /** Such as `Node 24.11.1`; undefined if nobody knows. */
  readonly runtime: string | undefined
  readonly findings: readonly Finding[]
}

/**
 * Tries faults on a command, one after the other.
 * @param onFindings called with what each has found
 * @throws {UsageError} a sentence, if it cannot be tried at all
 */
export async function tryCommand(
  options: CommandOptions,
  faults: readonly Fault[],
  named: Named,
  onFindings: (findings: readonly Finding[], done: number) => void,
): Promise<Survey> {
  const foreseen = (error: unknown): never => {
    if (options.signal.aborted || !(error instanceof Error)) throw error
    throw new UsageError(`${capital(error.message)}: ${options.command}.`)
  }
  const first = new CommandSubject(options)
  let runtime: string | undefined
  const start = async () => {
    const server = await first.start()
    if (!isRunning(server.pid))
      throw new Error(
        'the process that was started has ended, and its server goes on in the background: start it in the foreground',
      )
    runtime ??= runtimeOf(server)
    return server
  }
  const routes = await findRoutes(start, named)
    .catch(foreseen)
    .finally(() => first.end())
  // Nobody asks this one for anything: it must not end. A second copy needs a port of its own.
  const idle = new CommandSubject(options, routes)
  const hasCopies = first.elsewhere === undefined
  const watched = hasCopies ? await idle.start().catch(foreseen) : undefined
  const trial = {
    faults,
    signal: options.signal,
    hasCopies,
    open: () => new CommandSubject(options, routes),
    onFindings(findings: readonly Finding[], done: number) {
      const reason = watched?.whyEnded()
      if (reason !== undefined)
        foreseen(new Error(`${reason} although nobody asked for anything, so nothing can be said of it`))
      onFindings(findings, done)
    },
  }
  const findings = await tryFaults(trial).finally(() => idle.end())
  return { runtime, findings }
}

/** What runs it, by the program of the process that listens. */
function runtimeOf({ target, pids }: Server): string | undefined {
  const own = new Set(pids())
  const pid = listenersOf(target).find((one) => own.has(one))
  const program = readOr('', () => readlinkSync(`/proc/${pid}/exe`))
  const [, name] = /^(node|bun|deno|python|ruby|php)/.exec(basename(program)) ?? []
  if (name === undefined) return undefined
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 5_000 })
  const [version] = /\d+\.[\w.]+/.exec(stdout) ?? []
  return version === undefined ? undefined : `${capital(name)} ${version}`
}
