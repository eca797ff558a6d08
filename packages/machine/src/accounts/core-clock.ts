import { existsSync, readFileSync } from 'node:fs'
import { keepsInterruptsApart, readCpuTimes, readInterrupts, TICK_SECONDS } from './interrupts.ts'

/** How much of its time a core has worked for processes and threads, whoever's: minus our own, that is what others took. */
export interface CoreClock {
  readonly source: 'cpuacct' | 'schedstat' | 'stat'
  /** Seconds by which a difference of two readings may be too high. */
  readonly uncertainty: number
  /** Seconds so far, summed over the given CPUs; undefined if one of them is not online. */
  read(cpus: readonly number[]): number | undefined
}

/**
 * The best account that this system has.
 *
 * 1. `cpuacct`, control groups version 1: nanoseconds, brought up to date together with the accounts of threads.
 * 2. `/proc/schedstat`: nanoseconds, but only from one switch between threads to the next, and with the interrupts that the kernel may keep apart.
 * 3. `/proc/stat`: ticks of 10 ms, 5 % of a slice of 200 ms.
 *
 * The root of control groups version 2 has totals of the whole machine only, which say nothing about a core.
 * @param root for tests: the directory that has proc and sys
 * @returns undefined where the system does not tell (macOS)
 */
export function findCoreClock(root = ''): CoreClock | undefined {
  return findCpuacct(root) ?? findSchedstat(root) ?? findStat(root)
}

/** In a container the file counts only the container. The root group alone has a release_agent. */
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

/** Interrupts are left out, for no process chose them: where they count in the accounts of threads, this is a lower bound. */
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
