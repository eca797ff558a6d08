import { existsSync, readFileSync } from 'node:fs'
import { keepsInterruptsApart, readInterrupts, TICK_SECONDS } from './interrupts.ts'

/** How long a core has worked for all processes. Minus our own time, it is the time of others. */
export interface CoreClock {
  /** Seconds by which the difference of two readings may be too high. */
  readonly uncertainty: number
  /** Seconds so far, summed over the given CPUs; undefined if one of them is not online. */
  read(cpus: readonly number[]): number | undefined
}

/**
 * The account of nanoseconds that this system has: `cpuacct` of control groups version 1, which is updated together with the accounts of
 * threads, or `/proc/schedstat`, which is updated at a switch between threads. Ticks of 10 ms would say too little about 50 ms.
 * @param root for tests: the directory that contains proc and sys
 * @returns undefined if the system has neither
 */
export function findCoreClock(root = ''): CoreClock | undefined {
  return findCpuacct(root) ?? findSchedstat(root)
}

/** In a container the file counts only that container. Only the root group has a release_agent. */
function findCpuacct(root: string): CoreClock | undefined {
  const directory = ['cpuacct', 'cpu,cpuacct']
    .map((name) => `${root}/sys/fs/cgroup/${name}`)
    .find((path) => existsSync(`${path}/cpuacct.usage_percpu`) && existsSync(`${path}/release_agent`))
  if (directory === undefined) return undefined
  return {
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
    uncertainty: isApart ? TICK_SECONDS : 0,
    read: (cpus) => {
      const lines = readFileSync(path, 'latin1').split('\n')
      const rows = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(' '))
      const running = sum(rows.map((row) => (row === undefined ? undefined : Number(row[7]))))
      return running === undefined ? undefined : running - (isApart ? readInterrupts(cpus, root) : 0)
    },
  }
}

/** Nanoseconds to seconds; undefined if one is missing. */
function sum(nanoseconds: readonly (number | undefined)[]): number | undefined {
  if (!nanoseconds.every((one) => one !== undefined)) return undefined
  return nanoseconds.reduce((total, one) => total + one, 0) / 1e9
}
