import { readdirSync } from 'node:fs'
import { readText } from '../read-text.ts'
import { TICK_SECONDS } from './core-clock.ts'

/** The accounts of one thread so far, in nanoseconds. */
export interface ThreadAccount {
  onCpu: number
  /** Ready to run, but waiting for a core. */
  waiting: number
}

/** The threads of a process by their ids; the main thread has the id of the process. */
export type ProcessAccount = ReadonlyMap<string, ThreadAccount>

/**
 * The kernel's own accounts of all threads of a process, from `schedstat`
 * (https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat): nanoseconds, where /proc/PID/stat has ticks of 10 ms.
 * The account of a thread that is running on another core may be one timer tick old (1 to 10 ms).
 * @returns undefined if the process has ended, and where there is no such account (macOS)
 */
export function readThreads(pid: number): ProcessAccount | undefined {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    return new Map(tasks.map((task) => [task, readThread(`/proc/${pid}/task/${task}/schedstat`)]))
  } catch {
    return undefined
  }
}

/**
 * CPU seconds of a process and of all that it has waited for, with the threads that have ended: in ticks, so that a difference of two readings may
 * be wrong by `TICKS_UNCERTAIN` seconds.
 * @returns undefined if the process has ended, and where there is no such account
 */
export function readTicks(pid: number): number | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === '') return undefined
  // The name, in parentheses, may hold anything. After it, utime, stime, cutime and cstime are fields 12 to 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_SECONDS
}

/** Two parts that are each cut to whole ticks, at both ends. */
export const TICKS_UNCERTAIN = 2 * TICK_SECONDS

/** One that ended meanwhile has nothing. */
function readThread(path: string): ThreadAccount {
  const [onCpu = 0, waiting = 0] = readText(path).split(' ').map(Number)
  return { onCpu, waiting }
}

/** CPU time of all threads, in seconds. */
export function cpuOf(account: ProcessAccount): number {
  return [...account.values()].reduce((sum, { onCpu }) => sum + onCpu, 0) / 1e9
}

/**
 * The time of each thread between two readings. A new thread started from 0. The time of a thread that has ended is lost
 * and counts as 0. (A difference of sums would subtract its whole life from the other threads.)
 */
export function difference(before: ProcessAccount, after: ProcessAccount): ProcessAccount {
  return new Map(
    [...after].map(([thread, { onCpu, waiting }]) => {
      const { onCpu: cpuBefore, waiting: waitBefore } = before.get(thread) ?? { onCpu: 0, waiting: 0 }
      return [
        thread,
        { onCpu: Math.max(0, onCpu - cpuBefore), waiting: Math.max(0, waiting - waitBefore) },
      ] as const
    }),
  )
}
