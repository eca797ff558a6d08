import { readdirSync, readFileSync } from 'node:fs'

/** What processes have used, from the kernel's own accounts. Linux only: elsewhere every figure is undefined. */

/** CPU seconds that the processes have used so far, all threads: nanosecond accounts, not the 10 ms ticks of /proc/PID/stat. */
export function cpuSeconds(pids: readonly number[]): number | undefined {
  return sumOf(pids, (pid) => {
    const tasks = readdirSync(`/proc/${pid}/task`)
    return tasks.reduce((sum, task) => sum + readOnCpu(`/proc/${pid}/task/${task}/schedstat`), 0) / 1e9
  })
}

/** First field: nanoseconds on a CPU (https://docs.kernel.org/scheduler/sched-stats.html). A thread may end meanwhile. */
function readOnCpu(path: string): number {
  try {
    return Number(readFileSync(path, 'latin1').split(' ', 1)[0])
  } catch {
    return 0
  }
}

/** Highest resident memory of the processes so far, in bytes. Pages that they share count in each. */
export function peakMemory(pids: readonly number[]): number | undefined {
  return sumOf(pids, (pid) => {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return Number(peak?.[1] ?? 0) * 1024
  })
}

/** A process and all below it. */
export function processTree(root: number): number[] {
  const found = [root]
  try {
    for (const pid of found) {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
        found.push(...children.split(' ').filter(Boolean).map(Number))
      }
    }
  } catch {
    // No /proc, or a process that just ended.
  }
  return found
}

function sumOf(pids: readonly number[], measure: (pid: number) => number): number | undefined {
  if (process.platform !== 'linux') return undefined
  let sum = 0
  for (const pid of pids) {
    try {
      sum += measure(pid)
    } catch {
      // It ended; what it used before is in the earlier reading.
    }
  }
  return sum
}
