import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Target } from '@startgrid/wire/target.ts'
import type { Runtime } from './frameworks.ts'

/** What can be started: an app of the grid, or any package with a `src/server.ts ROLE` whose first line of output says that it listens. */
export interface Startable {
  /** `fastify/ssr` */
  name: string
  /** `bun` is started with Bun, the others with Node. For `nginx`, Node then starts NGINX. */
  runtime: Runtime
  role: string
  /** Absolute path of its package. */
  directory: string
}

/** The first line of an app, once it listens. */
interface Ready {
  pid: number
  /** `http://host:port`, `https://host:port` or `unix:path` */
  address: string
  /** njs only: which engine runs the JavaScript. */
  engine?: string
  /** njs only: the version of NGINX. */
  nginx?: string
}

export interface LaunchOptions {
  /** Added to the launcher's settings: a free port on loopback, `LOG_LEVEL=warn`, NODE_ENV=production. */
  env?: Readonly<Record<string, string>>
  /** The core to stay on, or several in the syntax of taskset: `0`, `0,2-3` (Linux). */
  cpu?: number | string | undefined
  /** What runs it instead of its runtime and `src/server.ts`: a program and its words. */
  program?: readonly string[]
  /** Node or Bun options before the file, such as `--cpu-prof`. */
  execArgv?: readonly string[]
  /** Milliseconds until it must listen, default 60,000: up to twenty start at once on one core, some in containers. */
  timeoutMs?: number
}

/** One start of one app. */
export interface Launch {
  app: Startable
  ready: Ready
  target: Target
  child: ChildProcess
  /** Its output so far, both streams. */
  output(): string
  /** Asks it to drain and waits. @returns the exit code, or null after a signal */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** An app that did not start. The message is a sentence with its output. */
export class LaunchError extends Error {
  override name = 'LaunchError'
}

/**
 * For proofs, races and all faults but `overload`: no page is refused because another process used the core for a while. Each page still
 * pays for reading the clock.
 */
export const NEVER_SHED = { MAX_QUEUE_WAIT_MS: '60000' } as const

const BIN = fileURLToPath(new URL('../../../node_modules/.bin/', import.meta.url))

/**
 * Starts an app on a free port and waits until it listens.
 * @throws {LaunchError}
 */
export async function launch(app: Startable, options: LaunchOptions = {}): Promise<Launch> {
  const runtime = app.runtime === 'bun' ? `${BIN}bun` : process.execPath
  const program = options.program ?? [runtime, ...(options.execArgv ?? []), 'src/server.ts']
  const command = [...bind(options.cpu), ...program, app.role]
  const [file = runtime, ...args] = command
  const child = spawn(file, args, {
    cwd: app.directory,
    env: {
      ...process.env,
      FORCE_COLOR: '0', // its output becomes part of messages
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const { promise: listening, resolve } = Promise.withResolvers<Ready>()
  createInterface(child.stdout).on('line', (line) => {
    output += `${line}\n`
    if (line.includes('"msg":"listening"')) resolve(JSON.parse(line) as Ready)
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const spawnFailed = once(child, 'error').then(([error]) => {
    throw new LaunchError(`${app.name} did not start: ${error instanceof Error ? error.message : error}.`)
  })
  spawnFailed.catch(() => {}) // its callers handle the error

  const timeoutMs = options.timeoutMs ?? 60_000
  let late = false
  const deadline = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, timeoutMs)
  const endedEarly = exited.then((code) => {
    const how = late ? `does not listen after ${timeoutMs} ms` : `ended with ${code} before it listened`
    throw new LaunchError(`${app.name} ${how}: ${output.trim() || 'it said nothing'}`)
  })
  endedEarly.catch(() => {})
  const ready = await Promise.race([listening, spawnFailed, endedEarly]).finally(() => clearTimeout(deadline))
  return {
    app,
    ready,
    target: toTarget(ready.address),
    child,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return exited
    },
  }
}

function toTarget(address: string): Target {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) }
  const { protocol, hostname, port } = new URL(address)
  // Whatever certificate a program of ours shows on loopback is its own.
  return { host: hostname, port: Number(port), ...(protocol === 'https:' && { ca: null }) }
}

/** Keeps a child on its cores, and ends it with us even if we are killed (util-linux; elsewhere neither). */
function bind(cpu: number | string | undefined): string[] {
  // If we are killed before setpriv has asked for the signal, nobody sends it: so the shell checks that we still run.
  const shell = ['sh', '-c', `[ $PPID = ${process.pid} ] && exec "$@"`, 'sh']
  const ended = hasTool('setpriv') ? ['setpriv', '--pdeathsig', 'TERM', ...shell] : []
  const pinned = cpu !== undefined && hasTool('taskset') ? ['taskset', '-c', String(cpu)] : []
  return [...ended, ...pinned]
}

const tools = new Map<string, boolean>()

export function hasTool(name: string): boolean {
  const isThere = () => process.platform === 'linux' && spawnSync(name, ['--version']).status === 0
  const found = tools.get(name) ?? isThere()
  tools.set(name, found)
  return found
}
