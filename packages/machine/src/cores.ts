import { spawnSync } from 'node:child_process'
import { type Cpu, readCpus } from './cpus.ts'

/** Logical CPUs: app and proxy stay on the one, the generator on the other. */
export interface Cores {
  server: number
  generator: number
}

/** Why there is no good choice of cores, or none at all; `slower` is the generator's speed over the servers'. */
export type CoreWarning =
  | { kind: 'not-pinned' | 'one-core' }
  | { kind: 'smt-shared'; server: number; generator: number }
  | { kind: 'unlike-cores'; server: number; generator: number; slower: number }

/** Cores within this part of the fastest are alike: one model's favoured cores differ by a few per cent. */
const ALIKE = 0.9

/**
 * A core for the servers and one for the generator, so that neither pays for the other.
 * @param warn told why there is no good choice, or none at all
 * @returns null where processes cannot be kept apart
 */
export function chooseCores(warn: (warning: CoreWarning) => void, cpus?: readonly Cpu[]): Cores | null {
  if (cpus === undefined && !canPin()) {
    warn({ kind: 'not-pinned' })
    return null
  }
  const pair = choosePair(cpus ?? readCpus())
  if (pair === undefined) {
    warn({ kind: 'one-core' })
    return null
  }
  const [server, generator] = [pair.server.number, pair.generator.number]
  if (pair.server.siblings.includes(generator)) warn({ kind: 'smt-shared', server, generator })
  if (!areAlike(pair.server, pair.generator)) {
    warn({ kind: 'unlike-cores', server, generator, slower: pair.generator.speed / pair.server.speed })
  }
  return { server, generator }
}

/** Whether processes can be kept on a core: on Linux, with taskset of util-linux. */
export function canPin(): boolean {
  return process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0
}

interface Pair {
  server: Cpu
  generator: Cpu
}

/**
 * Two physical cores of the fastest kind: the first and the last of them. Otherwise the servers get a fast core, and the generator
 * the best other physical one; and only if there is a single physical core, two threads of that.
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

/** Keeps running processes on one core (or several, as taskset writes them), with what they start later. One that has just ended does not matter. */
export function pin(pids: readonly number[], cpu: number | string): void {
  for (const pid of pids)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)])
}
