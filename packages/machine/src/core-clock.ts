import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { gunzipSync } from 'node:zlib'
import { readText, sumOf } from './proc.ts'

/** How long a core has worked for all processes. Minus our own time, it is the time of others. */
export interface CoreClock {
  /** Seconds by which the difference of two readings may be too high; infinite if they say nothing. */
  readonly uncertainty: number
  /** Whether interrupts are in no account of a process. */
  readonly isApart: boolean
  /** Seconds so far, summed over the given CPUs; undefined if one of them is not online, and where the system does not tell. */
  read(cpus: readonly number[]): number | undefined
}

/**
 * The account of nanoseconds that this system has: `cpuacct` of control groups version 1, which is updated together with the accounts of
 * threads, or `/proc/schedstat`, which is updated at a switch between threads. Ticks of 10 ms would say too little about 50 ms.
 * @param root for tests: the directory that contains proc and sys
 */
export function findCoreClock(root = ''): CoreClock {
  const isApart = keepsInterruptsApart(root)
  // In a container, cpuacct counts only that container. Only the root group has a release_agent.
  const group = ['cpuacct', 'cpu,cpuacct']
    .map((name) => `${root}/sys/fs/cgroup/${name}`)
    .find((path) => existsSync(`${path}/cpuacct.usage_percpu`) && existsSync(`${path}/release_agent`))
  if (group !== undefined) {
    const read = (cpus: readonly number[]) => {
      const all = readText(`${group}/cpuacct.usage_percpu`).trim().split(' ').map(Number)
      const nanoseconds = sumOf(cpus, (cpu) => all[cpu])
      return nanoseconds && nanoseconds / 1e9
    }
    return { uncertainty: 0, isApart, read }
  }
  const path = `${root}/proc/schedstat`
  if (!existsSync(path)) return { uncertainty: Number.POSITIVE_INFINITY, isApart, read: () => undefined }
  const read = (cpus: readonly number[]) => {
    // The seventh figure (https://docs.kernel.org/scheduler/sched-stats.html#cpu-statistics): time spent running tasks.
    const nanoseconds = sumOfColumn(7, cpus, path)
    return nanoseconds && nanoseconds / 1e9 - (isApart ? readInterrupts(cpus, root) : 0)
  }
  return { uncertainty: isApart ? TICK_SECONDS : 0, isApart, read }
}

/** Over the lines that begin with `cpu0`, `cpu1` …; undefined if a CPU is not online. */
function sumOfColumn(column: number, cpus: readonly number[], path: string): number | undefined {
  const lines = readText(path).split('\n')
  return sumOf(cpus, (cpu) => {
    const line = lines.find((one) => one.startsWith(`cpu${cpu} `))
    return line === undefined ? undefined : Number(line.split(/\s+/)[column])
  })
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
  way: keyof typeof COLUMNS,
  root = '',
): number | undefined {
  const ticks = sumOfColumn(COLUMNS[way], cpus, `${root}/proc/stat`)
  return ticks && ticks * TICK_SECONDS
}

/**
 * Whether interrupts are excluded from the time of processes: with CONFIG_IRQ_TIME_ACCOUNTING they are. The network stack runs mostly in software
 * interrupts, so a saturated server then seems to use only 80 to 90 % of its core. A kernel that does not say is taken to include them.
 */
function keepsInterruptsApart(root: string): boolean {
  const packed = `${root}/proc/config.gz`
  const config = existsSync(packed)
    ? gunzipSync(readFileSync(packed)).toString('latin1')
    : readText(`${root}/boot/config-${os.release()}`) ||
      readText(`${root}/lib/modules/${os.release()}/config`)
  return config.includes('\nCONFIG_IRQ_TIME_ACCOUNTING=y\n')
}

/** Seconds in interrupts that no process's account contains, on a kernel that keeps them apart. */
export function readInterrupts(cpus: readonly number[], root = ''): number {
  return (readCpuTime(cpus, 'irq', root) ?? 0) + (readCpuTime(cpus, 'softirq', root) ?? 0)
}
