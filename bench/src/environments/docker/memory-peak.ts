import { runDocker } from './command.ts'

/**
 * Highest resident memory so far of the processes that serve in a container, as natively. The control group's own peak would count what
 * its healthcheck used too: a second Node.
 * @returns bytes; null if the container has ended, or has no shell
 */
export async function peakMemoryIn(container: string): Promise<number | null> {
  const { code, stdout } = await runDocker(['exec', container, 'sh', '-c', 'cat /proc/[0-9]*/status'])
  // `cat` fails if one of them ended meanwhile, but has shown the others.
  return code === 0 || code === 1 ? sumPeaks(stdout) : null
}

interface Process {
  pid: number
  parent: number
  bytes: number
}

/**
 * Adds up what is below process 1, which is Docker's init. What `docker exec` runs has its parent outside.
 * @param statuses of all processes (https://docs.kernel.org/filesystems/proc.html)
 * @returns bytes; null if nothing serves
 */
export function sumPeaks(statuses: string): number | null {
  const processes = statuses.split(/^(?=Name:)/m).map(parseStatus)
  const serving = new Set([1])
  let bytes = 0
  for (const { pid, parent, bytes: own } of processes.toSorted((a, b) => a.pid - b.pid)) {
    if (!serving.has(parent)) continue
    serving.add(pid)
    bytes += own
  }
  return bytes > 0 ? bytes : null
}

function parseStatus(status: string): Process {
  const numberOf = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { pid: numberOf('Pid'), parent: numberOf('PPid'), bytes: numberOf('VmHWM') * 1024 }
}
