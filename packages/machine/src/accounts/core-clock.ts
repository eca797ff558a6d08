import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { gunzipSync } from 'node:zlib'
import { readText } from '../proc.ts'

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
  // In a container, cpuacct counts only that container. Only the root group has a release_agent.
  const group = ['cpuacct', 'cpu,cpuacct']
    .map((name) => `${root}/sys/fs/cgroup/${name}`)
    .find((path) => existsSync(`${path}/cpuacct.usage_percpu`) && existsSync(`${path}/release_agent`))
  if (group !== undefined) {
    const read = (cpus: readonly number[]) => {
      const all = readText(`${group}/cpuacct.usage_percpu`).trim().split(' ').map(Number)
      return secondsOf(cpus.map((cpu) => all[cpu]))
    }
    return { uncertainty: 0, read }
  }
  if (!existsSync(`${root}/proc/schedstat`)) return undefined
  const isApart = keepsInterruptsApart(root)
  return {
    uncertainty: isApart ? TICK_SECONDS : 0,
    read: (cpus) => {
      // The seventh figure (https://docs.kernel.org/scheduler/sched-stats.html#cpu-statistics): time spent running tasks.
      const rows = rowsOf(readText(`${root}/proc/schedstat`), cpus)
      const running = secondsOf(rows.map((row) => row && Number(row[7])))
      return running === undefined ? undefined : running - (isApart ? readInterrupts(cpus, root) : 0)
    },
  }
}

/** Undefined if one is missing. */
function secondsOf(nanoseconds: readonly (number | undefined)[]): number | undefined {
  if (!nanoseconds.every((one) => one !== undefined)) return undefined
  return nanoseconds.reduce((total, one) => total + one, 0) / 1e9
}

/** The columns of the lines that begin with `cpu0`, `cpu1` …; undefined for a CPU that is not online. */
function rowsOf(text: string, cpus: readonly number[]): (string[] | undefined)[] {
  const lines = text.split('\n')
  return cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(/\s+/))
}

/** /proc/stat counts in hundredths of a second on every architecture that Node runs on (USER_HZ). */
export const TICK_SECONDS = 0.01

/** Columns of a line of /proc/stat (https://docs.kernel.org/filesystems/proc.html). */
const COLUMNS = { irq: 6, softirq: 7, steal: 8 } as const

/**
 * Seconds that CPUs spent in some way so far, summed over the given ones, in ticks of 10 ms.
 * @param root for tests: the directory that has proc/stat
 * @returns undefined where the system does not tell, or one of them is not online
 */
export function readCpuTime(
  cpus: readonly number[],
  ways: readonly (keyof typeof COLUMNS)[],
  root = '',
): number | undefined {
  const rows = rowsOf(readText(`${root}/proc/stat`), cpus)
  if (!rows.every((row) => row !== undefined)) return undefined
  const ticks = rows.flatMap((row) => ways.map((way) => Number(row[COLUMNS[way]])))
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_SECONDS
}

/**
 * Whether interrupts are excluded from the time of processes: with CONFIG_IRQ_TIME_ACCOUNTING they are. The network stack runs mostly in software
 * interrupts, so a saturated server then seems to use only 80 to 90 % of its core. A kernel that does not say is taken to include them.
 */
export function keepsInterruptsApart(root = ''): boolean {
  const packed = `${root}/proc/config.gz`
  const config = existsSync(packed)
    ? gunzipSync(readFileSync(packed)).toString('latin1')
    : readText(`${root}/boot/config-${os.release()}`) ||
      readText(`${root}/lib/modules/${os.release()}/config`)
  return config.includes('\nCONFIG_IRQ_TIME_ACCOUNTING=y\n')
}

/** Seconds in interrupts that no process's account contains, on a kernel that keeps them apart. */
export function readInterrupts(cpus: readonly number[], root = ''): number {
  return readCpuTime(cpus, ['irq', 'softirq'], root) ?? 0
}
