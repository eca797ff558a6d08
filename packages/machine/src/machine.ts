import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { plural } from '@startgrid/cli/text.ts'
import { readText } from './read-text.ts'

/** The machine of a result. */
export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  os: string
  kernel: string
  /** CPU frequency governor; null where the kernel does not say (virtual machines, macOS). */
  governor: string | null
}

export function readMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() || 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    os: /^PRETTY_NAME="?([^"\n]+)/m.exec(readText('/etc/os-release'))?.[1] ?? `${os.type()} ${os.release()}`,
    kernel: `${os.type()} ${os.release()} ${os.machine()}`,
    governor: readText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor').trim() || null,
  }
}

/** The machine in a few words: `AMD EPYC, 2 cores`. */
export function nameMachine({ cpu, cores }: Pick<Machine, 'cpu' | 'cores'>): string {
  const words = cpu
    .replace(/\((?:R|TM)\)|\b(?:CPU|Processor)\b|@/gi, ' ')
    .trim()
    .replace(/\s+/g, ' ')
  return `${words}, ${plural(cores, 'core')}`
}

/** The machine in a phrase. */
export function describeMachine({ cpu, cores, memoryBytes, os: system, kernel, governor }: Machine): string {
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`
  const clock = governor === null ? '' : `, governor ${governor}`
  return `${cpu}, ${plural(cores, 'core')}, ${memory}, ${system}, ${kernel}${clock}`
}

/**
 * The part of all cores, 0 to 1, that others use during 0.3 s in which we are idle; undefined if unknown.
 * @param signal ends the wait early
 */
export async function foreignLoad(signal?: AbortSignal): Promise<number | undefined> {
  const before = readCpuTimes()
  await sleep(300, undefined, { ...(signal && { signal }) }).catch(() => {})
  const after = readCpuTimes()
  const total = after.total - before.total
  return total > 0 ? (after.busy - before.busy) / total : undefined
}

/** Milliseconds of all cores together, since the machine started. */
export function readCpuTimes(): { busy: number; total: number } {
  let busy = 0
  let total = 0
  for (const { times } of os.cpus()) {
    const used = times.user + times.nice + times.sys + times.irq
    busy += used
    total += used + times.idle
  }
  return { busy, total }
}
