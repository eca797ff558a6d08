import { availableParallelism } from 'node:os'
import { readCpuTimes } from '@startgrid/machine/machine.ts'
import { cpuSeconds, processTree } from '@startgrid/machine/processes.ts'

/** What a process and those below it use from now on, and what everybody else does (Linux). */
export class Accounts {
  readonly #pids: readonly number[]
  readonly #at = performance.now()
  readonly #own: number | undefined
  readonly #all = readCpuTimes().busy

  constructor(pid: number | undefined) {
    this.#pids = pid === undefined ? [] : processTree(pid)
    this.#own = cpuSeconds(this.#pids)
  }

  /** @returns undefined where the system does not tell, or if one of the processes has ended */
  read(): { cpuSeconds: number /** 0 to 1 of all cores */; foreign: number } | undefined {
    const own = cpuSeconds(this.#pids)
    if (own === undefined || this.#own === undefined) return undefined
    const used = own - this.#own
    const others = (readCpuTimes().busy - this.#all) / 1000 - used
    const seconds = (performance.now() - this.#at) / 1000
    return { cpuSeconds: used, foreign: Math.max(0, others / seconds / availableParallelism()) }
  }
}
