import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { capital } from '@startgrid/cli/text.ts'
import { until } from '@startgrid/cli/until.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { readOr } from '@startgrid/machine/proc.ts'
import { isRunning, listenersOf } from '@startgrid/machine/processes.ts'
import { startCommand } from '@startgrid/servers/command.ts'
import { versionOf } from '@startgrid/servers/program.ts'
import { ask } from './clients.ts'
import type { Row } from './finding.ts'
import { findRoutes, type Named, type Routes, type Server } from './routes.ts'
import { type Fault, type OnFindings, Subject, tryFaults } from './subject.ts'

/** How anybody's server is started and stopped. */
export interface CommandOptions extends Pick<Subject, 'stopping' | 'nginx' | 'signal'> {
  readonly command: string
  /** Where it runs. */
  readonly directory: string
  readonly guard: Guard
  readonly readyTimeoutMs: number | undefined
  /** Says something of the server to the person. */
  tell(text: string): void
}

/** Anybody's server, in any language. */
class CommandSubject extends Subject {
  readonly routes: Routes
  readonly #options: CommandOptions

  constructor(options: CommandOptions, routes: Routes) {
    super(options.nginx, options.signal)
    this.routes = routes
    this.#options = options
    this.stopping = options.stopping
  }

  async start(port?: number): Promise<Server> {
    const isElsewhere = (place: string) => {
      this.elsewhere = place
    }
    const how = { ...this.#options, cpus: undefined, isElsewhere, graceMs: 100, port }
    const server = await startCommand(this.#options, how)
    this.atEnd(server.stop)
    const [pid = 0] = server.launched.groups
    const { health, headers } = this.routes
    const isReady = async () =>
      server.whyEnded() !== undefined ||
      (await ask(server.target, { target: health, headers })).error === undefined
    if (health !== '') await until(`${health} is not responded to`, isReady)
    return { ...server, pid }
  }
}

/** What was found, in the order of the faults. */
export interface Survey {
  /** Such as `Node 24.11.1`; undefined if nobody knows. */
  readonly runtime: string | undefined
  readonly findings: readonly Row[]
}

/**
 * Tries faults on a command.
 * @throws {UsageError} a sentence, if it cannot be tried at all
 */
export async function tryCommand(
  options: CommandOptions,
  faults: readonly Fault[],
  named: Named,
  onFindings: OnFindings,
): Promise<Survey> {
  const { command, directory, signal } = options
  const foreseen = (error: unknown): never => {
    if (signal.aborted || !(error instanceof Error)) throw error
    throw new UsageError(`${capital(error.message)}: ${command}.`)
  }
  // Its routes are not known yet.
  const unknown = { headers: named.headers, health: '', page: { path: '/', status: 200 }, pages: [] }
  const first = new CommandSubject(options, unknown)
  let runtime: string | undefined
  const start = async () => {
    const server = await first.start()
    if (!isRunning(server.pid))
      throw new Error(
        'the process that was started has ended, and its server goes on in the background: start it in the foreground',
      )
    runtime ??= runtimeOf(server, directory)
    return server
  }
  const routes = await findRoutes(start, named)
    .catch(foreseen)
    .finally(() => first.end())
  // Nobody asks this one for anything: it must not end. A second copy needs a port of its own.
  const idle = new CommandSubject(options, routes)
  const hasCopies = first.elsewhere === undefined
  const watched = hasCopies ? await idle.start().catch(foreseen) : undefined
  const tell: OnFindings = (findings, done) => {
    const reason = watched?.whyEnded()
    if (reason !== undefined)
      foreseen(new Error(`${reason} although nobody asked for anything, so nothing can be said of it`))
    onFindings(findings, done)
  }
  const open = () => new CommandSubject(options, routes)
  const findings = await tryFaults(faults, open, { signal, hasCopies, onFindings: tell }).finally(() =>
    idle.end(),
  )
  return { runtime, findings }
}

/** What runs it, by the program of the process that listens. */
function runtimeOf({ target, pids }: Server, directory: string): string | undefined {
  const own = new Set(pids())
  const pid = listenersOf(target).find((one) => own.has(one))
  const program = readOr('', () => readlinkSync(`/proc/${pid}/exe`))
  const [, name] = /^(node|bun|deno|python|ruby|php)/.exec(basename(program)) ?? []
  const version = name && versionOf(program, directory)
  return version && `${capital(name)} ${version}`
}
