import { existsSync, readFileSync } from 'node:fs'
import { keepsInterruptsApart, readCpuTimes, readInterrupts, TICK_SECONDS } from './interrupts.ts'

/** How long a core has worked for all processes. Minus our own time, it is the time of others. */
export interface CoreClock {
  readonly source: 'cpuacct' | 'schedstat' | 'stat'
  /** Seconds by which the difference of two readings may be too high. */
  readonly uncertainty: number
  /** Seconds so far, summed over the given CPUs; undefined if one of them is not online. */
  read(cpus: readonly number[]): number | undefined
}

/**
 * The most precise account of this system.
 *
 * 1. `cpuacct`, control groups version 1: nanoseconds, updated together with the accounts of threads.
 * 2. `/proc/schedstat`: nanoseconds, but updated only at a switch between threads. It includes interrupts.
 * 3. `/proc/stat`: ticks of 10 ms, 5 % of a slice of 200 ms.
 *
 * The root of control groups version 2 has only totals of the whole machine, not of a core.
 * @param root for tests: the directory that contains proc and sys
 * @returns undefined if the system has no such account (macOS)
 */
export function findCoreClock(root = ''): CoreClock | undefined {
  return findCpuacct(root) ?? findSchedstat(root) ?? findStat(root)
}

/** In a container the file counts only that container. Only the root group has a release_agent. */
function findCpuacct(root: string): CoreClock | undefined {
  const directory = ['cpuacct', 'cpu,cpuacct']
    .map((name) => `${root}/sys/fs/cgroup/${name}`)
    .find((path) => existsSync(`${path}/cpuacct.usage_percpu`) && existsSync(`${path}/release_agent`))
  if (directory === undefined) return undefined
  return {
    source: 'cpuacct',
    uncertainty: 0,
    read: (cpus) => {
      const nanoseconds = readFileSync(`${directory}/cpuacct.usage_percpu`, 'latin1')
        .trim()
        .split(' ')
        .map(Number)
      return sum(cpus.map((cpu) => nanoseconds[cpu]))
    },
  }
}

/** Seventh figure of a cpuN line (https://docs.kernel.org/scheduler/sched-stats.html#cpu-statistics): time spent running tasks. */
function findSchedstat(root: string): CoreClock | undefined {
  const path = `${root}/proc/schedstat`
  if (!existsSync(path)) return undefined
  const isApart = keepsInterruptsApart(root)
  return {
    source: 'schedstat',
    uncertainty: isApart ? TICK_SECONDS : 0,
    read: (cpus) => {
      const lines = readFileSync(path, 'latin1').split('\n')
      const rows = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(' '))
      const running = sum(rows.map((row) => (row === undefined ? undefined : Number(row[7]))))
      return running === undefined ? undefined : running - (isApart ? readInterrupts(cpus, root) : 0)
    },
  }
}

/** Without interrupts, because no process causes them by choice. If thread accounts include them, this is a lower bound. */
function findStat(root: string): CoreClock | undefined {
  if (!existsSync(`${root}/proc/stat`)) return undefined
  return {
    source: 'stat',
    uncertainty: TICK_SECONDS,
    read: (cpus) => {
      const times = readCpuTimes(cpus, root)
      return times && times.user + times.nice + times.system
    },
  }
}

/** Nanoseconds to seconds; undefined if one is missing. */
function sum(nanoseconds: readonly (number | undefined)[]): number | undefined {
  if (!nanoseconds.every((one) => one !== undefined)) return undefined
  return nanoseconds.reduce((total, one) => total + one, 0) / 1e9
}
