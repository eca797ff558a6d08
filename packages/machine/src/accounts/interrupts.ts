import { readFileSync } from 'node:fs'
import os from 'node:os'
import { gunzipSync } from 'node:zlib'

/**
 * The network stack runs mostly in software interrupts. Whether their time counts for a process depends on the kernel. With
 * CONFIG_IRQ_TIME_ACCOUNTING it does not, and a saturated server seems to use only 80 to 90 % of its core.
 */

/** /proc/stat counts in hundredths of a second on every architecture that Node runs on (USER_HZ). */
export const TICK_SECONDS = 0.01

/** The columns of a line of /proc/stat (https://docs.kernel.org/filesystems/proc.html), in seconds. */
interface CpuTimes {
  user: number
  nice: number
  system: number
  irq: number
  softirq: number
  steal: number
}

/**
 * What CPUs did so far, summed over the given ones.
 * @param root for tests: the directory that has proc/stat
 * @returns undefined where the system does not tell, or one of them is not online
 */
export function readCpuTimes(cpus: readonly number[], root = ''): CpuTimes | undefined {
  const lines = readText(`${root}/proc/stat`)?.split('\n') ?? []
  const rows = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `)))
  if (!rows.every((row) => row !== undefined)) return undefined
  const numbers = rows.map((row) => row.split(/\s+/).map(Number))
  const sum = (column: number) => numbers.reduce((total, row) => total + (row[column] ?? 0), 0) * TICK_SECONDS
  return { user: sum(1), nice: sum(2), system: sum(3), irq: sum(6), softirq: sum(7), steal: sum(8) }
}

/**
 * Whether interrupts are excluded from the time of processes. If a kernel does not publish its configuration, this assumes that they
 * are included.
 */
export function keepsInterruptsApart(root = ''): boolean {
  const config =
    unpack(`${root}/proc/config.gz`) ??
    readText(`${root}/boot/config-${os.release()}`) ??
    readText(`${root}/lib/modules/${os.release()}/config`)
  return config?.includes('\nCONFIG_IRQ_TIME_ACCOUNTING=y\n') ?? false
}

/**
 * Seconds in interrupts that no process's account contains; 0 on kernels that count them for processes. The resolution is 10 ms.
 */
export function readInterrupts(cpus: readonly number[], root = ''): number {
  const times = readCpuTimes(cpus, root)
  return times === undefined ? 0 : times.irq + times.softirq
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

function unpack(path: string): string | undefined {
  try {
    return gunzipSync(readFileSync(path)).toString('latin1')
  } catch {
    return undefined
  }
}
