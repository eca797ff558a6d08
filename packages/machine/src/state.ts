import { existsSync } from 'node:fs'
import os from 'node:os'
import { formatPercent } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { readCpuTime } from './accounts/core-clock.ts'
import { foreignLoad } from './machine.ts'
import { readText } from './read-text.ts'

/** A condition of a machine that makes figures less certain: what is the matter and what to do, in a sentence or two. */
export interface MachineWarning {
  kind: 'cores' | 'busy' | 'host'
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
  return signal.aborted ? [] : [...busyWarnings(state), ...guestWarnings()]
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

/** @param root for tests: the directory that has proc and sys */
export function guestWarnings(root = ''): MachineWarning[] {
  const name = virtualMachine(root)
  if (name === undefined) return []
  const text = `This is a virtual machine (${name}). What other guests of its host do is not visible here. Measure again at another time before you trust a close difference.`
  return [{ kind: 'host', text }]
}

/** x86 has a CPU flag for it, ARM a node in the device tree; where those are missing, the firmware says what it is. */
function virtualMachine(root: string): string | undefined {
  const [vendor, product] = ['sys_vendor', 'product_name'].map((name) =>
    readText(`${root}/sys/class/dmi/id/${name}`).trim(),
  )
  const firmware = `${vendor} ${product}`.trim()
  const isGuest =
    /^flags\s*:.*\bhypervisor\b/m.test(readText(`${root}/proc/cpuinfo`)) ||
    existsSync(`${root}/proc/device-tree/hypervisor`) ||
    /KVM|QEMU|VMware|VirtualBox|Virtual Machine|Parallels|Google Compute/i.test(firmware)
  return isGuest ? firmware || 'its CPU says so' : undefined
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
