import { availableParallelism } from 'node:os'
import { readCpuTimes } from '@startgrid/machine/machine.ts'
import { cpuSeconds, processTree } from '@startgrid/machine/processes.ts'

/** What processes use from now on, and the part of all cores that everybody else does (Linux). */
export function beginAccount(
  pids: readonly number[],
): () => { cpuSeconds: number; foreign: number } | undefined {
  const at = performance.now()
  const [own, all] = [cpuSeconds(pids), readCpuTimes().busy]
  return () => {
    const now = cpuSeconds(pids)
    if (now === undefined || own === undefined) return undefined
    const used = now - own
    const others = (readCpuTimes().busy - all) / 1000 - used
    const seconds = (performance.now() - at) / 1000
    return { cpuSeconds: used, foreign: Math.max(0, others / seconds / availableParallelism()) }
  }
}

/**
 * What this process has started, without these processes and those below them. Call it after a response: NGINX accepts connections before its
 * worker exists.
 */
export function serversBeside(...roots: readonly number[]): number[] {
  const others = new Set([process.pid, ...roots.flatMap(processTree)])
  return processTree(process.pid).filter((pid) => !others.has(pid))
}
