import { readFileSync } from 'node:fs'

/** What is read, or `absent` if it is not there, belongs to another user, or its process has ended meanwhile. */
export function readOr<Value>(absent: Value, read: () => Value): Value {
  try {
    return read()
  } catch {
    return absent
  }
}

/** The content of a file such as one of /proc; empty if it cannot be read. */
export function readText(path: string): string {
  return readOr('', () => readFileSync(path, 'latin1'))
}

/** The fields of /proc/PID/stat from its state on (https://docs.kernel.org/filesystems/proc.html); none if the process has ended. */
export function readStat(pid: number): string[] {
  const stat = readText(`/proc/${pid}/stat`)
  // The name, in parentheses, may hold anything.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** @returns undefined if one is unknown */
export function sumOf<Item>(
  items: readonly Item[],
  of: (item: Item) => number | undefined,
): number | undefined {
  const parts = items.map(of)
  return parts.includes(undefined) ? undefined : parts.reduce<number>((sum, one = 0) => sum + one, 0)
}
