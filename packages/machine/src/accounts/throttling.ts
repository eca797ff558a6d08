import { readFileSync } from 'node:fs'

/** How often and how long a CPU limit stopped a control group so far. */
export interface Throttling {
  times: number
  seconds: number
}

/**
 * Reads the account of a control group, of version 1 or 2 (https://docs.kernel.org/scheduler/sched-bwc.html#statistics). A limit of a group above
 * it is not in there.
 * @param directory where the group's files are mounted: /sys/fs/cgroup in its container
 * @returns undefined if they cannot be read; no throttling where the group has no limit to keep to
 */
export function readThrottling(directory: string): Throttling | undefined {
  // Version 2 has all files in one directory, version 1 has one directory for each controller.
  for (const place of ['cpu', 'cpu,cpuacct', '.']) {
    const text = read(`${directory}/${place}/cpu.stat`)
    if (text !== undefined) return parseThrottling(text)
  }
  return undefined
}

function parseThrottling(text: string): Throttling {
  const numberOf = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  // Microseconds in version 2, nanoseconds in version 1.
  const seconds = numberOf('throttled_usec') / 1e6 + numberOf('throttled_time') / 1e9
  return { times: numberOf('nr_throttled'), seconds }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
