import type { Cores } from '../cores.ts'
import { readSiblings } from '../cpus.ts'
import { type CoreClock, findCoreClock } from './core-clock.ts'
import { keepsInterruptsApart, readInterrupts } from './interrupts.ts'
import { cpuOf, difference, type ProcessAccount, readThreads } from './threads.ts'

/** CPU time that was used, in seconds; null where the system does not tell. */
export interface CpuSeconds {
  app: number | null
  proxy: number | null
  generator: number | null
}

/** Each as a part of the time between two samples, 0 to 1; null where the system does not tell. */
export interface Disturbance {
  /** Server or proxy was ready to run, but waited for somebody else than each other. */
  serverWait: number | null
  generatorWait: number | null
  /** CPU that others used on the core of the servers. */
  serverForeign: number | null
  generatorForeign: number | null
}

/** What a generator says of its own threads, in seconds; null where the system does not tell. */
export interface OwnAccount {
  cpuSeconds: number | null
  /** Ready to run, but waiting for a core. */
  waitSeconds: number | null
}

/** Whose time is told apart from everybody else's. */
export interface Subject {
  /** Undefined if the processes are not known. */
  app: readonly number[] | undefined
  proxy: readonly number[]
  /** Empty if each load has a process of its own, which gives its accounts itself. */
  generator: readonly number[]
  /** Null where processes cannot be kept apart: then nobody can be told from others by the core. */
  cores: Cores | null
}

/** What the kernel said at one time. */
export interface Sample {
  /** `performance.now()` */
  at: number
  app: Processes | undefined
  proxy: Processes | undefined
  generator: Processes | undefined
  /** Seconds that the cores worked for anybody. */
  serverCore: number | undefined
  generatorCore: number | undefined
  /** Seconds by which a difference of `serverCore` or `generatorCore` may be too high. */
  uncertainty: number
  /** Seconds in interrupts on the core of the servers that are in nobody's account. */
  interrupts: number
}

/** By process id. */
type Processes = ReadonlyMap<number, ProcessAccount>

/**
 * Takes the kernel's accounts; to be called right before and right after a slice. It takes a fraction of a millisecond for a Node
 * app behind NGINX (about 30 small files).
 */
export function takeSample({ app, proxy, generator, cores }: Subject): Sample {
  const { clock, isApart } = system()
  const cpus = cores && { server: coreOf(cores.server, cores), generator: coreOf(cores.generator, cores) }
  return {
    at: performance.now(),
    app: app && readProcesses(app),
    proxy: readProcesses(proxy),
    generator: generator.length > 0 ? readProcesses(generator) : undefined,
    serverCore: cpus ? clock?.read(cpus.server) : undefined,
    generatorCore: cpus ? clock?.read(cpus.generator) : undefined,
    uncertainty: clock?.uncertainty ?? 0,
    interrupts: isApart && cpus ? readInterrupts(cpus.server) : 0,
  }
}

/**
 * What was used between two samples, and what others took.
 *
 * *Waiting.* The kernel says how long a thread was ready to run but waited; not for whom. On one shared core the app waits while
 * the proxy runs, and a runtime's main thread while its own garbage collector does: nobody disturbs them. So of the main thread's waiting
 * is taken off what all our other threads used on this core meanwhile; the rest, if any, others must have taken. It is a lower bound, and exact
 * while the server is saturated: then the main thread is always running or waiting. Of several processes the one that waited longest
 * counts, for they wait for the same neighbour. A wait is in the accounts when it is over.
 *
 * *Foreign CPU* is what a core worked minus what our processes used on it. Everything else is foreign: other users, the kernel's
 * own threads, this harness, and the apps of the heat whose turn it is not. Whoever it was, the server did not get that time. What
 * others do on an SMT sibling counts as on the core itself.
 * @param own the generator's accounts, for a driver whose processes live as long as one load
 */
export function compareSamples(
  before: Sample,
  after: Sample,
  own?: OwnAccount,
): { cpuSeconds: CpuSeconds; disturbance: Disturbance } {
  const seconds = (after.at - before.at) / 1000
  const [app, proxy] = [spent(before.app, after.app), spent(before.proxy, after.proxy)]
  const generator = spent(before.generator, after.generator)
  const servers = app && proxy && new Map([...app, ...proxy])
  const used = { app: totalOf(app), proxy: totalOf(proxy), servers: totalOf(servers) }
  const generatorCpu = totalOf(generator) ?? own?.cpuSeconds ?? null
  const generatorWait = unexplainedWait(generator) ?? own?.waitSeconds ?? null
  const interrupts = (after.interrupts - before.interrupts) / (used.servers || 1)
  return {
    cpuSeconds: {
      app: used.app && used.app * (1 + interrupts),
      proxy: used.proxy && used.proxy * (1 + interrupts),
      generator: generatorCpu,
    },
    disturbance: {
      serverWait: partOf(unexplainedWait(servers), seconds),
      generatorWait: partOf(generatorWait, seconds),
      serverForeign: partOf(foreign('serverCore', before, after, used.servers), seconds),
      generatorForeign: partOf(foreign('generatorCore', before, after, generatorCpu), seconds),
    },
  }
}

/** @returns undefined if one of them has ended: what it used is gone from the accounts */
function readProcesses(pids: readonly number[]): Processes | undefined {
  const accounts = new Map<number, ProcessAccount>()
  for (const pid of pids) {
    const account = readThreads(pid)
    if (account === undefined) return undefined
    accounts.set(pid, account)
  }
  return accounts
}

function spent(before: Processes | undefined, after: Processes | undefined): Processes | undefined {
  if (before === undefined || after === undefined) return undefined
  return new Map([...after].map(([pid, account]) => [pid, difference(before.get(pid) ?? new Map(), account)]))
}

/** CPU seconds of all processes. */
function totalOf(processes: Processes | undefined): number | null {
  return processes ? [...processes.values()].reduce((sum, account) => sum + cpuOf(account), 0) : null
}

/** Seconds; see `compareSamples`. */
function unexplainedWait(processes: Processes | undefined): number | null {
  const total = totalOf(processes)
  if (processes === undefined || total === null) return null
  const waits = [...processes].map(([pid, account]) => {
    const { onCpu = 0, waiting = 0 } = account.get(String(pid)) ?? {}
    return waiting / 1e9 - (total - onCpu / 1e9)
  })
  return Math.max(0, ...waits)
}

/** Seconds that others certainly used: what may be an error of reading is taken off. */
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

let known: { clock: CoreClock | undefined; isApart: boolean } | undefined

/** What this system has does not change. */
function system(): { clock: CoreClock | undefined; isApart: boolean } {
  known ??= { clock: findCoreClock(), isApart: keepsInterruptsApart() }
  return known
}

const cores = new Map<number, number[]>()

/** A logical CPU with its siblings, but for one that is ours. */
function coreOf(cpu: number, { server, generator }: Cores): number[] {
  const siblings = cores.get(cpu) ?? readSiblings(cpu)
  cores.set(cpu, siblings)
  return siblings.filter((one) => one === cpu || (one !== server && one !== generator))
}
