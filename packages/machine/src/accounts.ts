import { readdirSync } from 'node:fs'
import { type CoreClock, findCoreClock, readInterrupts, TICK_SECONDS } from './core-clock.ts'
import { type AllCores, type Cores, readSiblings } from './cores.ts'
import { readOr, readStat, readText, sumOf } from './proc.ts'

/** CPU time that was used, in seconds; null where the system does not tell. */
export interface CpuSeconds {
  app: number | null
  proxy: number | null
  generator: number | null
}

/** Each as a part of the time between two samples, 0 to 1; null where the system does not tell. */
export interface Disturbance {
  /** Server or proxy was ready to run, but waited for another process than these two. */
  serverWait: number | null
  /** It was ready to run, but waited for another process, or the host of this virtual machine had stopped its core. */
  generatorWait: number | null
  /** CPU time of others on the cores of the servers and their SMT siblings, of all that these have. */
  serverForeign: number | null
  generatorForeign: number | null
}

/** The processes whose time is kept apart from that of all others. */
export interface Subject {
  /** Undefined if the processes are not known. */
  app: readonly number[] | undefined
  proxy: readonly number[]
  generator: readonly number[]
  /** Null if processes cannot be pinned: then the core does not tell them from others. */
  cores: (Cores & Partial<AllCores>) | null
}

/** The kernel's accounts at one time. */
export interface Sample {
  /** `performance.now()` */
  at: number
  app: Processes | undefined
  /** CPU seconds of the app in ticks, with threads and children that have ended. */
  appTicks?: number | undefined
  proxy: Processes | undefined
  generator: Processes | undefined
  /** How many the servers have. */
  serverCores: number
  /** Seconds for which the cores worked for any process. */
  serverCore: number | undefined
  generatorCore: number | undefined
  /** Seconds by which a difference of `serverCore` or `generatorCore` may be too high. */
  uncertainty: number
  /** Whether the kernel keeps the time of interrupts out of the accounts of processes. */
  isApart: boolean
  /** Seconds in interrupts on the core of the servers that no account contains. */
  interrupts: number
}

/** By process id. */
type Processes = ReadonlyMap<number, ProcessAccount>

/**
 * Reads the kernel's accounts. Call it right before and right after a slice. It takes a fraction of a millisecond for a Node
 * app behind NGINX (about 30 small files).
 */
export function takeSample({ app, proxy, generator, cores }: Subject): Sample {
  const clock = clockOf()
  const { servers = cores ? [cores.server] : [] } = cores ?? {}
  const cpus = cores && {
    server: [...new Set(servers.flatMap((cpu) => coreOf(cpu, cores)))],
    generator: coreOf(cores.generator, cores),
  }
  return {
    at: performance.now(),
    app: app && readProcesses(app),
    appTicks: app && sumOf(app, readTicks),
    proxy: readProcesses(proxy),
    generator: generator.length > 0 ? readProcesses(generator) : undefined,
    serverCores: Math.max(1, servers.length),
    serverCore: cpus ? clock.read(cpus.server) : undefined,
    generatorCore: cpus ? clock.read(cpus.generator) : undefined,
    uncertainty: clock.uncertainty,
    isApart: clock.isApart,
    interrupts: clock.isApart && cpus ? readInterrupts(cpus.server) : 0,
  }
}

/**
 * The time used between two samples, by our processes and by others. A host that stops a core shows in no account; a generator that polls tells it,
 * because it lacks CPU time. Where the kernel keeps interrupts apart, it always lacks some, which tells nothing.
 * @param pollingSeconds for how long each generator polled, that is, never left its core by itself; 0 if that is not known
 */
export function compareSamples(
  before: Sample,
  after: Sample,
  pollingSeconds = 0,
): { cpuSeconds: CpuSeconds; disturbance: Disturbance } {
  const seconds = (after.at - before.at) / 1000
  const app = spent(before.app, after.app)
  const proxy = spent(before.proxy, after.proxy)
  const generator = spent(before.generator, after.generator)
  const servers = app && proxy && [...app, ...proxy]
  // A server with a thread or a process per connection: what these used is in no account of a thread.
  const ended = (after.appTicks ?? Number.NaN) - (before.appTicks ?? Number.NaN) - (totalOf(app) ?? 0)
  const lost = ended > TICKS_UNCERTAIN ? ended : 0
  const plus = (cpu: number | undefined) => cpu && cpu + lost
  const used = { app: plus(totalOf(app)), proxy: totalOf(proxy), servers: plus(totalOf(servers)) }
  const generatorCpu = totalOf(generator)
  // Several have a core each, so that none explains another's wait: the one whose core was taken most counts.
  const waits = generator?.map((one) => unexplainedWait([one])) ?? []
  const tellsStops = generatorCpu !== undefined && !after.isApart
  const stopped = tellsStops ? pollingSeconds - generatorCpu / (waits.length || 1) : 0
  const interrupts = 1 + (after.interrupts - before.interrupts) / (used.servers || 1)
  const part = (one: number | undefined, cores = 1) => {
    if (one === undefined) return null
    return seconds > 0 ? Math.min(1, one / seconds / cores) : 0
  }
  /** What others certainly used, that is, minus the possible reading error. */
  const foreign = (core: 'serverCore' | 'generatorCore', ours: number | undefined) => {
    const from = before[core]
    const to = after[core]
    if (from === undefined || to === undefined || ours === undefined) return undefined
    return Math.max(0, to - from - ours - after.uncertainty)
  }
  return {
    cpuSeconds: {
      app: used.app === undefined ? null : used.app * interrupts,
      proxy: used.proxy === undefined ? null : used.proxy * interrupts,
      generator: generatorCpu ?? null,
    },
    disturbance: {
      serverWait: part(servers && unexplainedWait(servers)),
      generatorWait: part(waits.length === 0 ? undefined : Math.max(...waits, stopped)),
      serverForeign: part(foreign('serverCore', used.servers), after.serverCores),
      // Of several, the first one runs on the generator's core.
      generatorForeign: part(foreign('generatorCore', totalOf(generator?.slice(0, 1)))),
    },
  }
}

/** @returns undefined if a process has ended, because its accounts are gone */
function readProcesses(pids: readonly number[]): Processes | undefined {
  const accounts = new Map(pids.map((pid) => [pid, readThreads(pid)]))
  return [...accounts.values()].includes(undefined) ? undefined : (accounts as Processes)
}

function spent(before: Processes | undefined, after: Processes | undefined): Spent[] | undefined {
  return before && after && [...after].map(([pid, account]) => spentBy(pid, before.get(pid), account))
}

/** CPU seconds of all processes. */
function totalOf(processes: readonly Spent[] | undefined): number | undefined {
  return processes?.reduce((sum, { cpu }) => sum + cpu, 0)
}

/**
 * Seconds. The kernel does not say for whom a thread waited: our other threads explain as much as they used of this core. All processes wait for the
 * same neighbour, so the longest wait counts.
 */
function unexplainedWait(processes: readonly Spent[]): number {
  const total = totalOf(processes) ?? 0
  return Math.max(0, ...processes.map(({ main }) => main.waiting - (total - main.onCpu)))
}

let known: CoreClock | undefined

/** Looked for once, because the system's capabilities do not change. */
const clockOf = () => (known ??= findCoreClock())

/** Whether foreign CPU is known to the nanosecond: a clock of 10 ms says nothing about a slice of 50 ms. */
export function hasExactClock(): boolean {
  return clockOf().uncertainty === 0
}

/** A logical CPU and its siblings, except those that we use. */
function coreOf(cpu: number, cores: Cores & Partial<AllCores>): number[] {
  const { server, generator, servers = [server], generators = [generator] } = cores
  const used = [...servers, ...generators]
  return readSiblings(cpu).filter((one) => one === cpu || !used.includes(one))
}

/** The accounts of one thread so far, in nanoseconds. */
interface ThreadAccount {
  onCpu: number
  /** Ready to run, but waiting for a core. */
  waiting: number
}

/** The threads of a process by their ids; the main thread has the id of the process. */
export type ProcessAccount = ReadonlyMap<string, ThreadAccount>

/**
 * The kernel's own accounts of all threads of a process, from `schedstat`
 * (https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat): nanoseconds, where /proc/PID/stat has ticks of 10 ms.
 * The account of a thread that is running on another core may be one timer tick old (1 to 10 ms).
 * @returns undefined if the process has ended, and where there is no such account (macOS)
 */
export function readThreads(pid: number): ProcessAccount | undefined {
  const tasks = readOr(undefined, () => readdirSync(`/proc/${pid}/task`))
  return tasks && new Map(tasks.map((task) => [task, readThread(`/proc/${pid}/task/${task}/schedstat`)]))
}

/** One that ended meanwhile has nothing. */
function readThread(path: string): ThreadAccount {
  const [onCpu = 0, waiting = 0] = readText(path).split(' ').map(Number)
  return { onCpu, waiting }
}

/** CPU time of all threads, in seconds. */
export function cpuOf(account: ProcessAccount): number {
  return [...account.values()].reduce((sum, { onCpu }) => sum + onCpu, 0) / 1e9
}

/**
 * CPU seconds of a process and of all that it has waited for, with the threads that have ended: in ticks, so that a difference of two readings may
 * be wrong by `TICKS_UNCERTAIN` seconds.
 * @returns undefined if the process has ended, and where there is no such account
 */
function readTicks(pid: number): number | undefined {
  // utime, stime, cutime and cstime are the fields 12 to 15 from the state on.
  const ticks = readStat(pid).slice(11, 15)
  return ticks.length === 0 ? undefined : ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_SECONDS
}

/** Two parts that are each cut to whole ticks, at both ends. */
const TICKS_UNCERTAIN = 2 * TICK_SECONDS

type Spent = ReturnType<typeof spentBy>

/**
 * Seconds that a process used between two readings: all its threads, and its main thread. A thread that has ended counts as 0: a difference of sums would
 * subtract its whole life from the others.
 */
function spentBy(pid: number, before: ProcessAccount | undefined, after: ProcessAccount) {
  const threads = new Map(
    [...after].map(([thread, now]) => {
      const { onCpu, waiting } = before?.get(thread) ?? { onCpu: 0, waiting: 0 }
      return [thread, { onCpu: Math.max(0, now.onCpu - onCpu), waiting: Math.max(0, now.waiting - waiting) }]
    }),
  )
  const { onCpu = 0, waiting = 0 } = threads.get(String(pid)) ?? {}
  return { cpu: cpuOf(threads), main: { onCpu: onCpu / 1e9, waiting: waiting / 1e9 } }
}
