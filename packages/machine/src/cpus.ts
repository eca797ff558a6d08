import { readFileSync } from 'node:fs'

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
  const status = read(`${root}/proc/self/status`)
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '')
  const all = parseCpuList(read(`${root}/sys/devices/system/cpu/online`).trim())
  const speedOf = createSpeed(root, all.length > 0 ? all : allowed)
  return allowed.map((number) => ({
    number,
    siblings: readSiblings(number, root),
    speed: speedOf(number),
  }))
}

/** The logical CPUs on the same physical core, itself included; only itself where the kernel does not tell. */
export function readSiblings(number: number, root = ''): number[] {
  const list = read(`${root}/sys/devices/system/cpu/cpu${number}/topology/thread_siblings_list`).trim()
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
 * The lowest of three accounts, each relative to the best CPU: `cpu_capacity` (ARM, and Intel's hybrids since Linux 6.12), the
 * highest frequency, and Intel's list of efficient cores, which do about half the work at the same frequency.
 */
function createSpeed(root: string, all: readonly number[]): (cpu: number) => number {
  const directory = (cpu: number) => `${root}/sys/devices/system/cpu/cpu${cpu}`
  const capacity = (cpu: number) => Number(read(`${directory(cpu)}/cpu_capacity`))
  const frequency = (cpu: number) => Number(read(`${directory(cpu)}/cpufreq/cpuinfo_max_freq`))
  const efficient = new Set(parseCpuList(read(`${root}/sys/devices/cpu_atom/cpus`).trim()))
  const best = { capacity: Math.max(...all.map(capacity)), frequency: Math.max(...all.map(frequency)) }
  return (cpu) =>
    Math.min(
      best.capacity > 0 ? capacity(cpu) / best.capacity : 1,
      best.frequency > 0 ? frequency(cpu) / best.frequency : 1,
      efficient.has(cpu) ? EFFICIENT_SPEED : 1,
    )
}

const EFFICIENT_SPEED = 0.5

/** The file's content; empty if the kernel does not provide it. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
