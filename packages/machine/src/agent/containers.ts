import { readdirSync, readFileSync } from 'node:fs'
import { readThrottling, type Throttling } from '../accounts/throttling.ts'

/**
 * The first process of each container, in a pod whose containers share their process ids.
 * @param ids of containers, by name
 * @param root for tests: the directory that has proc
 * @returns process ids by name; a container without a process is missing
 */
export function findContainers(ids: Readonly<Record<string, string>>, root = ''): Map<string, number> {
  const found = new Map<string, number>()
  const pids = readdirSync(`${root}/proc`)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
  for (const pid of pids) {
    const groups = read(`${root}/proc/${pid}/cgroup`)
    const name = Object.entries(ids).find(([, id]) => groups.includes(id))?.[0]
    if (name !== undefined && !found.has(name)) found.set(name, pid)
  }
  return found
}

/**
 * The throttling of the container that a process is in: its file system shows its own control group.
 * @param root for tests, as in `findContainers`
 * @returns undefined if this user may not look there
 */
export function throttlingOf(pid: number, root = ''): Throttling | undefined {
  return readThrottling(`${root}/proc/${pid}/root/sys/fs/cgroup`)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // it has just ended
  }
}
