import { availableParallelism } from 'node:os'
import { readCpuTimes } from '@startgrid/machine/machine.ts'
import { cpuSeconds } from '@startgrid/machine/processes.ts'

/** What processes use from now on, and the part of all cores that everybody else does (Linux). @returns undefined while one of them ends */
export function beginAccount(
  pidsOf: () => readonly number[],
): () => { cpuSeconds: number; foreign: number } | undefined {
  const at = performance.now()
  const [own, all] = [cpuSeconds(pidsOf()), readCpuTimes().busy]
  return () => {
    const now = cpuSeconds(pidsOf())
    if (now === undefined || own === undefined) return undefined
    const used = now - own
    const others = (readCpuTimes().busy - all) / 1000 - used
    const seconds = (performance.now() - at) / 1000
    return { cpuSeconds: used, foreign: Math.max(0, others / seconds / availableParallelism()) }
  }
}
