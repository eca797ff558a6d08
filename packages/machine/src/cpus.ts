import { readText } from './read-text.ts'

/** The logical CPUs of this machine, as the kernel describes them (https://docs.kernel.org/admin-guide/cputopology.html). */
export interface Cpu {
  number: number
  /** Logical CPUs of the same physical core, itself included: what one of them does slows the others. */
  siblings: number[]
  /** Its speed relative to the fastest CPU of the machine, 0 to 1, as far as the kernel tells. */
  speed: number
}

/**
 * The CPUs that this process may use, in order: containers and batch systems allow a part of the machine, which need not begin at 0.
 * @param root for tests: the directory that has proc and sys
 */
export function readCpus(root = ''): Cpu[] {
  const status = readText(`${root}/proc/self/status`)
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '')
  const all = parseCpuList(readText(`${root}/sys/devices/system/cpu/online`).trim())
  const speedOf = createSpeed(root, all.length > 0 ? all : allowed)
  return allowed.map((number) => ({
    number,
    siblings: readSiblings(number, root),
    speed: speedOf(number),
  }))
}

/** The logical CPUs on the same physical core, itself included; only itself where the kernel does not tell. */
export function readSiblings(number: number, root = ''): number[] {
  const list = readText(`${root}/sys/devices/system/cpu/cpu${number}/topology/thread_siblings_list`).trim()
  return list === '' ? [number] : parseCpuList(list)
}

/** The numbers in a list as the kernel writes it: `0,2-3`. */
export function parseCpuList(list: string): number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = Number.NaN, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}

/**
 * By what the kernel tells, each relative to the best CPU: `cpu_capacity` (ARM, and Intel's hybrids since Linux 6.12) and the highest frequency,
 * by which efficient cores differ as well.
 */
function createSpeed(root: string, all: readonly number[]): (cpu: number) => number {
  const [capacity, frequency] = ['cpu_capacity', 'cpufreq/cpuinfo_max_freq'].map((file) => {
    const read = (cpu: number) => Number(readText(`${root}/sys/devices/system/cpu/cpu${cpu}/${file}`))
    const best = Math.max(...all.map(read))
    return (cpu: number) => (best > 0 ? read(cpu) / best : 1)
  })
  return (cpu) => Math.min(capacity?.(cpu) ?? 1, frequency?.(cpu) ?? 1)
}
