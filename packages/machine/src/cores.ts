import { spawnSync } from 'node:child_process'
import { formatDistance } from '@startgrid/cli/numbers.ts'
import { type Cpu, readCpus } from './cpus.ts'
import type { MachineWarning } from './state.ts'

/** Logical CPUs: app and proxy run on one, the generator on the other. */
export interface Cores {
  server: number
  generator: number
}

/** Cores within this part of the fastest count as equal: cores of one model differ by a few per cent. */
const ALIKE = 0.9

/**
 * A core for the servers and one for the generator, so that they do not slow each other down.
 * @param warn told why the choice is not good, or impossible
 * @returns null if processes cannot be pinned
 */
export function chooseCores(warn: (warning: MachineWarning) => void, cpus?: readonly Cpu[]): Cores | null {
  const say = (text: string) => warn({ kind: 'cores', text })
  if (cpus === undefined && !canPin()) {
    say(
      'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about. Compare what is far apart only.',
    )
    return null
  }
  const pair = choosePair(cpus ?? readCpus())
  if (pair === undefined) {
    say(
      'Only one core can be used: servers and generator share it, so rates are far below what a server can do. Use a machine with two.',
    )
    return null
  }
  const [server, generator] = [pair.server.number, pair.generator.number]
  if (pair.server.siblings.includes(generator))
    say(
      `CPUs ${server} and ${generator} are two threads of one physical core: servers and generator slow each other down. Use a machine with two cores.`,
    )
  if (!areAlike(pair.server, pair.generator))
    say(
      `The generator has CPU ${generator}, which is ${formatDistance(pair.generator.speed / pair.server.speed)} slower than CPU ${server} of the servers, for want of another fast one: it may not keep up with fast servers.`,
    )
  return { server, generator }
}

/** Those of servers and generators that use several: one thread of each physical core. Single ones stay on the first. */
export interface AllCores extends Cores {
  servers: number[]
  generators: number[]
}

/**
 * As `chooseCores`, with as many cores for the servers as they can keep busy and the machine has. One generator keeps up with two of them, so there
 * is another for each further two, as far as cores are left.
 * @param wanted cores that the servers can keep busy
 * @param only for tests: the CPUs of the machine
 */
export function chooseAllCores(
  wanted: number,
  warn: (warning: MachineWarning) => void,
  only?: readonly Cpu[],
): AllCores | null {
  const pair = chooseCores(warn, only)
  if (pair === null) return null
  const cpus = only ?? readCpus()
  const taken = new Set<number>()
  const take = (number: number) => {
    for (const sibling of cpus.find((cpu) => cpu.number === number)?.siblings ?? []) taken.add(sibling)
    return number
  }
  take(pair.generator)
  const all = [take(pair.server), ...cpus.flatMap(({ number }) => (taken.has(number) ? [] : take(number)))]
  const servers = all.splice(0, wanted)
  const more = Math.ceil(servers.length / 2) - 1
  return { ...pair, servers, generators: [pair.generator, ...all.reverse().slice(0, more)] }
}

/** Whether processes can be pinned to a core: on Linux, with taskset of util-linux. */
export function canPin(): boolean {
  return process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0
}

interface Pair {
  server: Cpu
  generator: Cpu
}

/**
 * Two physical cores of the fastest kind: the first and the last. If there is only one, the servers get it, and the generator gets the
 * next best physical core. On a machine with one physical core, they get two threads of it.
 */
function choosePair(cpus: readonly Cpu[]): Pair | undefined {
  const best = Math.max(...cpus.map(({ speed }) => speed))
  const server = cpus.find(({ speed }) => speed >= best * ALIKE)
  if (server === undefined) return undefined
  const others = cpus.filter((cpu) => cpu !== server)
  const apart = others.filter((cpu) => !server.siblings.includes(cpu.number))
  const alike = apart.filter((cpu) => areAlike(server, cpu))
  const generator = alike.at(-1) ?? fastest(apart) ?? others.at(-1)
  return generator && { server, generator }
}

function areAlike(one: Cpu, other: Cpu): boolean {
  return Math.min(one.speed, other.speed) >= Math.max(one.speed, other.speed) * ALIKE
}

function fastest(cpus: readonly Cpu[]): Cpu | undefined {
  return cpus.toSorted((one, other) => other.speed - one.speed)[0]
}

/** Pins running processes and their future children to one core, or to several in the syntax of taskset. Ended processes are ignored. */
export function pin(pids: readonly number[], cpu: number | string): void {
  for (const pid of pids)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)])
}
