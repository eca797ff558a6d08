import { readdirSync } from 'node:fs'
import { readOr, readStat, readText } from '../proc.ts'
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
  const tasks = readOr(undefined, () => readdirSync(`/proc/${pid}/task`))
  return tasks && new Map(tasks.map((task) => [task, readThread(`/proc/${pid}/task/${task}/schedstat`)]))
}

/**
 * CPU seconds of a process and of all that it has waited for, with the threads that have ended: in ticks, so that a difference of two readings may
 * be wrong by `TICKS_UNCERTAIN` seconds.
 * @returns undefined if the process has ended, and where there is no such account
 */
export function readTicks(pid: number): number | undefined {
  // utime, stime, cutime and cstime are the fields 12 to 15 from the state on.
  const ticks = readStat(pid).slice(11, 15)
  return ticks.length === 0 ? undefined : ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_SECONDS
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

/** Seconds that a process used: all its threads, and its main thread. */
export interface Spent {
  cpu: number
  main: ThreadAccount
}

/**
 * What a process used between two readings. A new thread started from 0. The time of a thread that has ended is lost and counts as 0.
 * (A difference of sums would subtract its whole life from the other threads.)
 */
export function spentBy(pid: number, before: ProcessAccount | undefined, after: ProcessAccount): Spent {
  const threads = new Map(
    [...after].map(([thread, now]) => {
      const { onCpu, waiting } = before?.get(thread) ?? { onCpu: 0, waiting: 0 }
      return [thread, { onCpu: Math.max(0, now.onCpu - onCpu), waiting: Math.max(0, now.waiting - waiting) }]
    }),
  )
  const { onCpu = 0, waiting = 0 } = threads.get(String(pid)) ?? {}
  return { cpu: cpuOf(threads), main: { onCpu: onCpu / 1e9, waiting: waiting / 1e9 } }
}
