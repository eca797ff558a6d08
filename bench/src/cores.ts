import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hasTool } from '@startgrid/grid/launcher.ts'
import type { Settings } from './results.ts'

/**
 * Servers on the first core that this process may use, the generator on the last: neither pays for the other.
 * @param warn told in a sentence why there is nothing to choose
 * @returns null where processes cannot be kept apart
 */
export function chooseCores(warn: (text: string) => void): Settings['cores'] {
  if (!hasTool('taskset')) {
    warn(
      'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about.',
    )
    return null
  }
  const [server, ...others] = parseCpuList(allowedCpus())
  const generator = others.at(-1)
  if (server !== undefined && generator !== undefined) return { server, generator }
  warn(
    'Only one core can be used: servers and generator share it, so rates are far below what a server can do.',
  )
  return null
}

/** Containers and batch systems allow a part of the machine, which need not begin at 0. */
function allowedCpus(): string {
  return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? ''
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

/** Keeps running processes on one core, with what they start later. One that has just ended does not matter. */
export function pin(pids: readonly number[], cpu: number): void {
  for (const pid of pids)
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)])
}
