import { readFileSync } from 'node:fs'
import os from 'node:os'
import { gunzipSync } from 'node:zlib'

/**
 * The network stack runs mostly in software interrupts. Whether their time counts for a process depends on the kernel. With
 * CONFIG_IRQ_TIME_ACCOUNTING it does not, and a saturated server seems to use only 80 to 90 % of its core.
 */

/** /proc/stat counts in hundredths of a second on every architecture that Node runs on (USER_HZ). */
export const TICK_SECONDS = 0.01

/** Columns of a line of /proc/stat (https://docs.kernel.org/filesystems/proc.html). */
const COLUMNS = { irq: 6, softirq: 7, steal: 8 } as const

/**
 * Seconds that CPUs spent in some way so far, summed over the given ones.
 * @param root for tests: the directory that has proc/stat
 * @returns undefined where the system does not tell, or one of them is not online
 */
export function readCpuTime(
  cpus: readonly number[],
  ways: readonly (keyof typeof COLUMNS)[],
  root = '',
): number | undefined {
  const lines = readText(`${root}/proc/stat`)?.split('\n') ?? []
  const rows = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(/\s+/))
  if (!rows.every((row) => row !== undefined)) return undefined
  const ticks = rows.flatMap((row) => ways.map((way) => Number(row[COLUMNS[way]])))
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_SECONDS
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
  return readCpuTime(cpus, ['irq', 'softirq'], root) ?? 0
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
