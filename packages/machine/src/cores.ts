import { spawnSync } from 'node:child_process'
import { formatDistance } from '@startgrid/cli/numbers.ts'
import type { MachineWarning } from './machine.ts'
import { readText } from './proc.ts'

/** Logical CPUs: app and proxy run on one, the generator on the other. */
export interface Cores {
  server: number
  generator: number
}

/** Those of servers and generators that use several: one thread of each physical core. Single ones stay on the first. */
export interface AllCores extends Cores {
  servers: number[]
  generators: number[]
}

/** Cores within this part of the fastest count as equal: cores of one model differ by a few per cent. */
const ALIKE = 0.9

/**
 * Cores for the servers and for the generator, so that they do not slow each other down. The servers get as many as they can keep busy and the machine
 * has. One generator keeps up with two of them, so there is another for each further two, as far as cores are left.
 * @param wanted cores that the servers can keep busy
 * @param warn told why the choice is not good, or impossible
 * @param cpus of the machine; null if processes cannot be pinned
 * @returns null if processes cannot be pinned
 */
export function chooseCores(
  wanted: number,
  warn: (warning: MachineWarning) => void,
  cpus: readonly Cpu[] | null = canPin() ? readCpus() : null,
): AllCores | null {
  const say = (text: string) => warn({ kind: 'cores', text })
  if (cpus === null) {
    say(
      'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about. Compare what is far apart only.',
    )
    return null
  }
  const { server, generator } = choosePair(cpus)
  if (server === undefined || generator === undefined) {
    say(
      'Only one core can be used: servers and generator share it, so rates are far below what a server can do. Use a machine with two.',
    )
    return null
  }
  if (server.siblings.includes(generator.number))
    say(
      `CPUs ${server.number} and ${generator.number} are two threads of one physical core: servers and generator slow each other down. Use a machine with two cores.`,
    )
  if (generator.speed < server.speed * ALIKE)
    say(
      `The generator has CPU ${generator.number}, which is ${formatDistance(generator.speed / server.speed)} slower than CPU ${server.number} of the servers, for want of another fast one: it may not keep up with fast servers.`,
    )
  const used = [...server.siblings, ...generator.siblings]
  const others = physicalCores(cpus).filter((cpu) => !used.includes(cpu.number))
  const all = [server, ...others].map(({ number }) => number)
  const servers = all.splice(0, wanted)
  const more = Math.ceil(servers.length / 2) - 1
  const generators = [generator.number, ...all.reverse().slice(0, more)]
  return { server: server.number, generator: generator.number, servers, generators }
}

/** One thread of each, the first. */
export function physicalCores(cpus: readonly Cpu[]): Cpu[] {
  return cpus.filter((cpu) => cpus.find(({ number }) => cpu.siblings.includes(number)) === cpu)
}

/** Whether processes can be pinned to a core: on Linux, with taskset of util-linux. */
export function canPin(): boolean {
  return process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0
}

/**
 * Two physical cores of the fastest kind: the first and the last. If there is only one, the servers get it, and the generator gets the
 * next best physical core. On a machine with one physical core, they get two threads of it.
 */
function choosePair(cpus: readonly Cpu[]): { server?: Cpu | undefined; generator?: Cpu | undefined } {
  const best = Math.max(...cpus.map(({ speed }) => speed))
  const fast = cpus.filter(({ speed }) => speed >= best * ALIKE)
  const [server] = fast
  const isApart = ({ number }: Cpu) => server?.siblings.includes(number) === false
  const [nextBest] = cpus.filter(isApart).toSorted((one, other) => other.speed - one.speed)
  const generator = fast.findLast(isApart) ?? nextBest ?? cpus.findLast((cpu) => cpu !== server)
  return { server, generator }
}

/** Pins running processes and their future children to one core, or to several in the syntax of taskset. Ended processes are ignored. */
export function pin(pids: readonly number[], cpu: number | string): void {
  for (const pid of pids)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)])
}

/** The logical CPUs of this machine, as the kernel describes them (https://docs.kernel.org/admin-guide/cputopology.html). */
interface Cpu {
  number: number
  /** Logical CPUs of the same physical core, itself included: what one of them does slows the others. */
  siblings: number[]
  /** Its speed relative to the fastest of them, 0 to 1, as far as the kernel tells. */
  speed: number
}

/**
 * The CPUs that this process may use, in order: containers and batch systems allow a part of the machine, which need not begin at 0.
 * @param root for tests: the directory that has proc and sys
 */
export function readCpus(root = ''): Cpu[] {
  const status = readText(`${root}/proc/self/status`)
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '')
  // Capacity (ARM, and Intel's hybrids since Linux 6.12) and the highest frequency, by which efficient cores differ as well.
  const measures = ['cpu_capacity', 'cpufreq/cpuinfo_max_freq'].map((file) => {
    const all = allowed.map((cpu) => Number(readText(`${root}/sys/devices/system/cpu/cpu${cpu}/${file}`)))
    const best = Math.max(...all)
    return all.map((one) => (best > 0 ? one / best : 1))
  })
  return allowed.map((number, index) => ({
    number,
    siblings: readSiblings(number, root),
    speed: Math.min(...measures.map((all) => all[index] ?? 1)),
  }))
}

/** The logical CPUs on the same physical core, itself included; only itself where the kernel does not tell. */
export function readSiblings(number: number, root = ''): number[] {
  const list = readText(`${root}/sys/devices/system/cpu/cpu${number}/topology/thread_siblings_list`).trim()
  return list === '' ? [number] : parseCpuList(list)
}

/** The numbers in a list as the kernel writes it: `0,2-3`. */
function parseCpuList(list: string): number[] {
  const parts = list.split(',').filter((part) => part !== '')
  return parts.flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
