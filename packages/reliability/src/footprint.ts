import { readdirSync } from 'node:fs'
import { readOr } from '@startgrid/machine/proc.ts'

/** Open files and sockets of these processes; 0 where there is no /proc. */
export function countFiles(pids: readonly number[]): number {
  const filesOf = (pid: number) => readOr(0, () => readdirSync(`/proc/${pid}/fd`).length)
  return pids.reduce((sum, pid) => sum + filesOf(pid), 0)
}
