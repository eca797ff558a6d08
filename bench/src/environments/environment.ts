import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { runtimeOf } from '@startgrid/grid/apps.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import {
  type CpuSeconds,
  compareSamples,
  type Disturbance,
  type Subject,
  takeSample,
} from '@startgrid/machine/accounts/sample.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { LastingGenerator } from '../load/generator.ts'
import type { Cell } from '../model/cell.ts'
import type { Experiment, System } from '../model/experiment.ts'
import type { LaunchRecord, Spread } from '../model/heat.ts'
import type { NginxVersion, Warning } from '../model/result.ts'
import type { Settings } from '../model/settings.ts'

/**
 * Where servers run and how they are reached there: native, running. The engine works with this alone.
 *
 * `open…` finds or makes what lasts for the whole run, and marks the cells that cannot run there as skipped. Per heat `start` starts systems, and
 * `Servers` stops them. The load is offered by the generator.
 */
export interface Environment {
  /** The cores of the servers and of the generator; null where they are not kept apart. */
  readonly cores: Settings['cores']
  /** The core of each process of the generator; undefined: any. */
  readonly generators: readonly (number | undefined)[]
  /** The NGINX that the cells need; null if none does, or there is none. */
  readonly nginx: NginxVersion | null
  /**
   * Starts the systems of these cells afresh. What does not come up is in `failures`, and the rest goes on.
   * @param pinned whether servers keep to their cores
   * @param signal an abort ends what takes long
   * @param together all at once, until one does not come up; default one after the other, where that is fairer
   * @throws {Error} with a sentence if nothing can be started
   */
  start(
    cells: readonly Cell[],
    options: { pinned: boolean; signal: AbortSignal; together?: boolean },
  ): Promise<Servers>
  /** Removes what is kept for the whole run. Called once, after the generator was stopped. */
  close(): Promise<void>
}

export interface EnvironmentOptions {
  progress: Progress
  warn(warning: Warning): void
  /** An abort ends what takes long. */
  signal: AbortSignal
  /** Whether NGINX may be fetched if this machine has none. */
  download: boolean
}

/**
 * Starts the servers of these cells afresh. What does not come up is in `failures`.
 * @returns undefined after an abort
 */
export async function startServers(
  environment: Pick<Environment, 'start'>,
  cells: readonly Cell[],
  { signal, pinned = true }: { signal: AbortSignal; pinned?: boolean },
): Promise<Servers | undefined> {
  try {
    return await environment.start(cells, { pinned, signal })
  } catch (error) {
    if (signal.aborted) return undefined
    const reason = `the servers did not start: ${oneLine(error)}`
    return {
      running: new Map(),
      failures: new Map(cells.map(({ id }) => [id, reason])),
      launches: async () => [],
      stop: async () => [],
    }
  }
}

/** Waits for what may take minutes. @returns undefined at once after an abort */
export async function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  if (signal.aborted) return undefined
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** What is started for a cell. @throws {Error} if the experiment has no such system */
export function systemOf({ name, systems }: Experiment, { system }: Pick<Cell, 'system'>): System {
  const found = systems[system]
  if (found === undefined) throw new Error(`The experiment ${name} has no system ${system}.`)
  return found
}

/** A cell with what is started for it. */
export interface Placed {
  cell: Cell
  system: System
}

/** Systems with the same one share the processes of an app. */
export function launchOf({ cell }: Placed): string {
  return cell.app
}

/** Those that share have one NGINX in front of all, as a site has. */
export function nginxKey({ cell, system }: Placed): string {
  return isShared({ system }) ? 'all' : cell.id
}

/** A system without a launch key shares nothing. */
export function isShared({ system }: Pick<Placed, 'system'>): boolean {
  return system.launch !== undefined
}

/** Whether NGINX itself runs the app: it needs one that can, and which engine runs the JavaScript counts. */
export function isInNginx({ app }: Pick<System, 'app'>): boolean {
  return app !== undefined && runtimeOf(app.package) === 'nginx'
}

/** Of the environment of an app: it logs no request, and refuses no page. */
export const MEASURABLE = { ...NEVER_SHED, LOG_LEVEL: 'warn' } as const

/** What serves one cell: an app, and the proxy in front of it. */
export interface Server {
  /** Where the generator reaches it. */
  target: Target
  /** What runs njs, such as `njs in NGINX 1.22.1`; absent for all other apps. */
  engine?: string | undefined
  /** Why app or proxy is no longer there: a clause without the full stop. @returns null while both are */
  whyEnded(): Promise<string | null>
  /** Takes all accounts now, and when the returned function is called. */
  beginAccount(generator: Pick<LastingGenerator, 'pids'>): Promise<EndAccount>
}

/** Servers that were started together and are loaded in turn, wherever they run. Each cell is in `running` or in `failures`. */
export interface Servers {
  /** By the ids of cells. */
  running: ReadonlyMap<string, Server>
  /** Why a cell does not run: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
  /** What was started for these cells, with the highest memory so far. */
  launches(cells: readonly Cell[]): Promise<LaunchRecord[]>
  /** Milliseconds that it took to start them, one after the other; absent where nobody knows. */
  startMs?: number
  /** Stops all; resolves when they are gone. @returns how the requests of clusters were spread over their workers, where anybody counts */
  stop(): Promise<Spread[]>
}

/** The account of the time since; it is worked out when the load has said for how long its generator polled. */
export type EndAccount = () => Promise<(pollingSeconds: number) => Account>

/** What a load took, and what others took meanwhile. */
export interface Account {
  cpuSeconds: CpuSeconds
  disturbance: Disturbance
}

/** Begins the account of processes that this machine's kernel runs. */
export function beginAccountOf(subject: Subject): EndAccount {
  const before = takeSample(subject)
  return async () => {
    const after = takeSample(subject)
    return (pollingSeconds) => compareSamples(before, after, pollingSeconds)
  }
}
