import { addAbortListener } from 'node:events'
import type { Progress } from '@startgrid/cli/progress.ts'
import { compareSamples, type Subject, takeSample } from '@startgrid/machine/accounts.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Experiment, System } from '../result/experiment.ts'
import type { LaunchRecord } from '../result/heat.ts'
import type { Cell, NginxVersion, Settings, Warning } from '../result/result.ts'
import type { Profiler } from './command/profiler.ts'

/** What lasts for a whole run. Cells that cannot run here were marked as skipped. */
export interface Opened {
  /** The cores of the servers and of the generator; null where they are not kept apart. */
  cores: Settings['cores']
  /** The NGINX that the cells need; null if none does, or there is none. */
  nginx: NginxVersion | null
  start: Start
}

/** Starts the systems of these cells afresh. What does not come up is in `failures`, and the rest goes on. */
export type Start = (cells: readonly Cell[], options: StartOptions) => Promise<Servers>

interface StartOptions {
  /** An abort ends what takes long. */
  signal: AbortSignal
  /** Whether servers keep to their cores; default true. */
  pinned?: boolean
  /** All at once, until one does not come up; default one after the other, where that is fairer. */
  together?: boolean
  /** Whether commands load the profiler; default false. */
  profiled?: boolean
}

export interface OpenOptions {
  progress: Progress
  warn(warning: Warning): void
  /** An abort ends what takes long. */
  signal: AbortSignal
}

/** Waits for what may take minutes. @returns undefined at once after an abort */
export async function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const listener = addAbortListener(signal, () => resolve(undefined))
  return Promise.race([aborted, promise]).finally(() => listener[Symbol.dispose]())
}

/** What is started for a cell. @throws {Error} if the experiment has no such system */
export function systemOf({ name, systems }: Experiment, { system }: Pick<Cell, 'system'>): System {
  const found = systems[system]
  if (found === undefined) throw new Error(`The experiment ${name} has no system ${system}.`)
  return found
}

/** What serves one cell: an app, and the proxy in front of it. */
export interface Server {
  /** Where the generator reaches it. */
  target: Target
  /** What runs njs, such as `njs in NGINX 1.22.1`; absent for all other apps. */
  engine?: string | undefined
  /** Why app or proxy is no longer there: a clause without the full stop. @returns null while both are */
  whyEnded(): Promise<string | null>
  /** Takes all accounts now, and when the returned function is called. @param generator its processes */
  beginAccount(generator: number[]): EndAccount
  /** Of a command that was started with it. */
  profiler?: Profiler | undefined
}

/** Servers that were started together and are loaded in turn, wherever they run. Each cell is in `running` or in `failures`. */
export interface Servers {
  /** By the ids of cells. */
  running: ReadonlyMap<string, Server>
  /** Why a cell does not run: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
  /** What was started, with the highest memory so far. */
  launches(): Promise<LaunchRecord[]>
  /** Milliseconds that it took to start them, one after the other; absent where nobody knows. */
  startMs?: number
  /** Stops all; resolves when they are gone. */
  stop(): Promise<void>
}

/** The account of the time since; it is worked out when the load has said for how long its generator polled. */
export type EndAccount = () => (pollingSeconds: number) => Account

/** What a load took, and what others took meanwhile. */
export type Account = ReturnType<typeof compareSamples>

/** Begins the account of processes that this machine's kernel runs. */
export function beginAccountOf(subject: Subject): EndAccount {
  const before = takeSample(subject)
  return () => {
    const after = takeSample(subject)
    return (pollingSeconds) => compareSamples(before, after, pollingSeconds)
  }
}
