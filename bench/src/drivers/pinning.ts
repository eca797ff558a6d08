/** The words that run a program on one core only: `taskset` on Linux; elsewhere nothing does that, and the core is ignored. */
export function pinned(
  command: readonly [string, ...string[]],
  cpu: number | undefined,
): [string, ...string[]] {
  return cpu !== undefined && process.platform === 'linux'
    ? ['taskset', '-c', String(cpu), ...command]
    : [...command]
}
