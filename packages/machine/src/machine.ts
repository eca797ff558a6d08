import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { readCpuTime } from './core-clock.ts'
import { readText } from './proc.ts'

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

/** Milliseconds of all cores together, since the machine started. */
function readCpuTimes(): { busy: number; total: number } {
  let [busy, total] = [0, 0]
  for (const { times } of os.cpus()) {
    const used = times.user + times.nice + times.sys + times.irq
    busy += used
    total += used + times.idle
  }
  return { busy, total }
}

/** A condition of a machine that makes figures less certain: what is the matter and what to do, in a sentence or two. */
export interface MachineWarning {
  kind: 'cores' | 'busy' | 'host'
  text: string
}

/** If others use more than this part of all cores, rates mean little. */
const BUSY = 0.1

/**
 * Observes the machine for 0.3 s in which our processes are idle.
 * @param signal ends that early
 */
export async function inspectMachine(signal: AbortSignal): Promise<MachineWarning[]> {
  const before = readCpuTimes()
  await sleep(300, undefined, { signal }).catch(() => {})
  const after = readCpuTimes()
  const share = (after.busy - before.busy) / (after.total - before.total || 1)
  return signal.aborted ? [] : [...busyWarnings(share), ...guestWarnings()]
}

/** @param share the part of all cores, 0 to 1, that others use */
export function busyWarnings(share: number): MachineWarning[] {
  const text = `Other programs use ${formatPercent(share)} of this machine: close them, or read the rates as lower bounds.`
  return share > BUSY ? [{ kind: 'busy', text }] : []
}

/**
 * A virtual machine has a CPU flag for it on x86; elsewhere, the firmware says what it is.
 * @param root for tests: the directory that has proc and sys
 */
export function guestWarnings(root = ''): MachineWarning[] {
  const firmware = ['sys_vendor', 'product_name'].map((name) => readText(`${root}/sys/class/dmi/id/${name}`))
  const isGuest =
    /^flags\s*:.*\bhypervisor\b/m.test(readText(`${root}/proc/cpuinfo`)) ||
    /KVM|QEMU|VMware|VirtualBox|Virtual Machine|Parallels|Google Compute/i.test(firmware.join(' '))
  const text =
    'This is a virtual machine. What other guests of its host do is not visible here. Measure again at another time before you trust a close difference.'
  return isGuest ? [{ kind: 'host', text }] : []
}

/**
 * Starts to measure CPU time that the host of a virtual machine takes.
 * @param root for tests: the directory that has proc
 * @returns a function that gives its part of all CPU time since then, 0 to 1; null where the system does not tell
 */
export function watchSteal(root = ''): (seconds: number) => number | null {
  const cpus = os.cpus().map((_, index) => index)
  const before = readCpuTime(cpus, 'steal', root)
  return (seconds) => {
    const after = readCpuTime(cpus, 'steal', root)
    if (before === undefined || after === undefined || seconds <= 0) return null
    return (after - before) / seconds / cpus.length
  }
}
