import { type Cores, readSiblings } from '../cores.ts'
import { type CoreClock, findCoreClock, keepsInterruptsApart, readInterrupts } from './core-clock.ts'
import {
  type ProcessAccount,
  readThreads,
  readTicks,
  type Spent,
  spentBy,
  TICKS_UNCERTAIN,
} from './threads.ts'

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
  /** CPU time of others on the core of the servers. */
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
  cores: Cores | null
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
  const { clock, isApart } = system()
  const cpus = cores && { server: coreOf(cores.server, cores), generator: coreOf(cores.generator, cores) }
  return {
    at: performance.now(),
    app: app && readProcesses(app),
    appTicks: app && ticksOf(app),
    proxy: readProcesses(proxy),
    generator: generator.length > 0 ? readProcesses(generator) : undefined,
    serverCore: cpus ? clock?.read(cpus.server) : undefined,
    generatorCore: cpus ? clock?.read(cpus.generator) : undefined,
    uncertainty: clock?.uncertainty ?? 0,
    isApart,
    interrupts: isApart && cpus ? readInterrupts(cpus.server) : 0,
  }
}

/**
 * The time used between two samples, by our processes and by others.
 *
 * *Waiting.* The kernel reports how long a thread was ready to run but waited, though not for whom. On a shared core the app waits
 * while the proxy runs, and a main thread while its own garbage collector runs. Nobody disturbs them then. So the time that our other
 * threads used on this core is subtracted from the main thread's waiting; others caused the rest. This is a lower bound. It is exact
 * for a saturated server, whose main thread always runs or waits. Of several processes, the one with the longest wait counts, because
 * all wait for the same neighbour. The kernel records a wait when it ends.
 *
 * *Foreign CPU* is the working time of a core minus the time of our processes on it: other users, the kernel's threads, this
 * harness, and apps of the heat that are not being measured. The server did not get that time, no matter what used it. Work on an SMT
 * sibling counts like work on the core itself.
 *
 * *A host that stops a core* shows in no account: the kernel neither runs nor waits meanwhile. A generator that polls tells it, because it lacks
 * CPU time. On a busy host such stops took 25 ms, half of a slice. Where the kernel keeps interrupts apart, it always lacks some, which tells
 * nothing.
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
  const lost = lostSeconds(totalOf(app), before.appTicks, after.appTicks)
  const plus = (seconds: number | null) => seconds && seconds + lost
  const used = { app: plus(totalOf(app)), proxy: totalOf(proxy), servers: plus(totalOf(servers)) }
  const generatorCpu = totalOf(generator)
  // Several have a core each, so that none explains another's wait: the one whose core was taken most counts.
  const waits = generator?.map((one) => unexplainedWait([one]) ?? 0) ?? []
  const tellsStops = generatorCpu !== null && !after.isApart
  const stopped = tellsStops ? pollingSeconds - generatorCpu / (waits.length || 1) : 0
  const interrupts = (after.interrupts - before.interrupts) / (used.servers || 1)
  return {
    cpuSeconds: {
      app: used.app && used.app * (1 + interrupts),
      proxy: used.proxy && used.proxy * (1 + interrupts),
      generator: generatorCpu,
    },
    disturbance: {
      serverWait: partOf(unexplainedWait(servers), seconds),
      generatorWait: partOf(waits.length === 0 ? null : Math.max(...waits, stopped), seconds),
      serverForeign: partOf(foreign('serverCore', before, after, used.servers), seconds),
      // Of several, the first one runs on the generator's core.
      generatorForeign: partOf(
        foreign('generatorCore', before, after, totalOf(generator?.slice(0, 1))),
        seconds,
      ),
    },
  }
}

function ticksOf(pids: readonly number[]): number | undefined {
  const ticks = pids.map(readTicks)
  return ticks.includes(undefined) ? undefined : ticks.reduce<number>((sum, one) => sum + (one ?? 0), 0)
}

/** Seconds that threads and children used which have ended; 0 unless that is certain. */
function lostSeconds(known: number | null, before: number | undefined, after: number | undefined): number {
  if (known === null || before === undefined || after === undefined) return 0
  const lost = after - before - known
  return lost > TICKS_UNCERTAIN ? lost : 0
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
function totalOf(processes: readonly Spent[] | undefined): number | null {
  return processes ? processes.reduce((sum, { cpu }) => sum + cpu, 0) : null
}

/** Seconds; see `compareSamples`. */
function unexplainedWait(processes: readonly Spent[] | undefined): number | null {
  const total = totalOf(processes)
  if (processes === undefined || total === null) return null
  return Math.max(0, ...processes.map(({ main }) => main.waiting - (total - main.onCpu)))
}

/** Seconds that others certainly used, that is, minus the possible reading error. */
function foreign(
  core: 'serverCore' | 'generatorCore',
  before: Sample,
  after: Sample,
  ours: number | null,
): number | null {
  const [from, to] = [before[core], after[core]]
  if (from === undefined || to === undefined || ours === null) return null
  return Math.max(0, to - from - ours - after.uncertainty)
}

function partOf(part: number | null, whole: number): number | null {
  if (part === null) return null
  return whole > 0 ? Math.min(1, part / whole) : 0
}

/** Whether foreign CPU is known to the nanosecond: a clock of 10 ms says nothing about a slice of 50 ms. */
export function hasExactClock(): boolean {
  return system().clock?.uncertainty === 0
}

let known: { clock: CoreClock | undefined; isApart: boolean } | undefined

/** Cached, because the system's capabilities do not change. */
function system(): { clock: CoreClock | undefined; isApart: boolean } {
  known ??= { clock: findCoreClock(), isApart: keepsInterruptsApart() }
  return known
}

const cores = new Map<number, number[]>()

/** A logical CPU and its siblings, except one that we use. */
function coreOf(cpu: number, { server, generator }: Cores): number[] {
  const siblings = cores.get(cpu) ?? readSiblings(cpu)
  cores.set(cpu, siblings)
  return siblings.filter((one) => one === cpu || (one !== server && one !== generator))
}
