import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { readCpuTime } from './accounts/interrupts.ts'
import { foreignLoad } from './machine.ts'

/** A condition of a machine that makes figures less certain: what is the matter and what to do, in a sentence or two. */
export interface MachineWarning {
  kind: 'cores' | 'busy' | 'clock' | 'host'
  text: string
}

/** If others use more than this part of all cores, rates mean little. */
const BUSY = 0.1

/** Load average per core. */
const LOADED = 0.5

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
  const busy = (text: string): MachineWarning[] => [{ kind: 'busy', text }]
  if (share > BUSY)
    return busy(
      `Other programs use ${formatPercent(share)} of this machine: close them, or read the rates as lower bounds.`,
    )
  if (load <= LOADED * cores) return []
  return busy(
    `The load average was ${load.toFixed(2)} on ${plural(cores, 'core')} at the beginning: another program ran until just now. If it was not a run of this benchmark, wait for a minute.`,
  )
}

/** @param root for tests: the directory that has sys */
export function clockWarnings(root = ''): MachineWarning[] {
  const directory = `${root}/sys/devices/system/cpu`
  const governor = read(`${directory}/cpu0/cpufreq/scaling_governor`)
  const boosts =
    read(`${directory}/cpufreq/boost`) === '1' || read(`${directory}/intel_pstate/no_turbo`) === '0'
  const texts = [
    ...(governor !== '' && governor !== 'performance'
      ? [
          `The CPU frequency governor is ${governor}: clocks follow the load. For close differences choose performance (sudo cpupower frequency-set -g performance).`,
        ]
      : []),
    ...(boosts
      ? [
          'The CPU may boost its clock: rates depend on its temperature. For close differences switch boost off in the firmware.',
        ]
      : []),
  ]
  return texts.map((text) => ({ kind: 'clock', text }))
}

/** @param root for tests: the directory that has proc and sys */
export function guestWarnings(root = ''): MachineWarning[] {
  const name = virtualMachine(root)
  if (name === undefined) return []
  const text = `This is a virtual machine (${name}). What other guests of its host do is not visible here. Measure again at another time before you trust a close difference.`
  return [{ kind: 'host', text }]
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
 * @returns a function that gives its part of all CPU time since then, 0 to 1; null where the system does not tell
 */
export function watchSteal(root = ''): (seconds: number) => number | null {
  const cpus = os.cpus().map((_, index) => index)
  const before = readCpuTime(cpus, ['steal'], root)
  return (seconds) => {
    const after = readCpuTime(cpus, ['steal'], root)
    if (before === undefined || after === undefined || seconds <= 0) return null
    return (after - before) / seconds / cpus.length
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
