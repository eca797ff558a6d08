import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { readCpuTime } from './accounts/interrupts.ts'
import { foreignLoad } from './machine.ts'

/** Conditions of a machine that make figures less certain. Parts are from 0 to 1. */
export type MachineWarning =
  | { kind: 'busy' | 'steal'; share: number }
  | { kind: 'load-average'; load: number; cores: number }
  | { kind: 'governor'; governor: string }
  | { kind: 'boost' }
  | { kind: 'virtual-machine'; name: string }

/** If others use more than this part of all cores, rates mean little. */
const BUSY = 0.1

/** Load average per core. */
const LOADED = 0.5

/** Part of all CPU time. */
const STOLEN = 0.01

/**
 * Observes the machine for 0.3 s in which our processes are idle.
 * @param signal ends that early
 */
export async function inspectMachine(signal: AbortSignal): Promise<MachineWarning[]> {
  const [load = 0] = os.loadavg()
  const state = { share: await foreignLoad(signal), load, cores: os.availableParallelism() }
  return signal.aborted ? [] : [...busyWarnings(state), ...clockWarnings(), ...guestWarnings()]
}

/** At most one warning: the load average describes the past, the share the present. */
export function busyWarnings(state: {
  share: number | undefined
  load: number
  cores: number
}): MachineWarning[] {
  const { share = 0, load, cores } = state
  if (share > BUSY) return [{ kind: 'busy', share }]
  return load > LOADED * cores ? [{ kind: 'load-average', load, cores }] : []
}

/** @param root for tests: the directory that has sys */
export function clockWarnings(root = ''): MachineWarning[] {
  const directory = `${root}/sys/devices/system/cpu`
  const governor = read(`${directory}/cpu0/cpufreq/scaling_governor`)
  const boosts =
    read(`${directory}/cpufreq/boost`) === '1' || read(`${directory}/intel_pstate/no_turbo`) === '0'
  return [
    ...(governor !== '' && governor !== 'performance' ? [{ kind: 'governor', governor } as const] : []),
    ...(boosts ? [{ kind: 'boost' } as const] : []),
  ]
}

/** @param root for tests: the directory that has proc and sys */
export function guestWarnings(root = ''): MachineWarning[] {
  const name = virtualMachine(root)
  return name === undefined ? [] : [{ kind: 'virtual-machine', name }]
}

/** The firmware of a virtual machine says what it is. x86 also has a CPU flag, and ARM a node in the device tree. */
function virtualMachine(root: string): string | undefined {
  const firmware = read(`${root}/sys/class/dmi/id/sys_vendor`)
  const product = read(`${root}/sys/class/dmi/id/product_name`)
  if (/KVM|QEMU|VMware|VirtualBox|Virtual Machine|Parallels|Google Compute/i.test(`${firmware} ${product}`))
    return `${firmware} ${product}`.trim()
  if (/Microsoft|WSL/i.test(read(`${root}/proc/sys/kernel/osrelease`))) return 'WSL'
  const hasFlag = /^flags\s*:.*\bhypervisor\b/m.test(read(`${root}/proc/cpuinfo`))
  if (hasFlag || existsSync(`${root}/proc/device-tree/hypervisor`)) return firmware || 'its CPU says so'
  return undefined
}

/**
 * Starts to measure CPU time that the host of a virtual machine takes.
 * @param root for tests: the directory that has proc
 * @returns a function that reports the time since then
 */
export function watchSteal(root = ''): (seconds: number) => MachineWarning[] {
  const cpus = os.cpus().map((_, index) => index)
  const before = readCpuTime(cpus, ['steal'], root)
  return (seconds) => {
    const after = readCpuTime(cpus, ['steal'], root)
    if (before === undefined || after === undefined || seconds <= 0) return []
    const share = (after - before) / seconds / cpus.length
    return share > STOLEN ? [{ kind: 'steal', share }] : []
  }
}

/** The file's content; empty if the kernel does not provide it. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return ''
  }
}
