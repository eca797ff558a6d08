import { setTimeout as sleep } from 'node:timers/promises'
import type { Launch } from '@startgrid/grid/launcher.ts'

/**
 * Tells an app to stop, and waits.
 * @param limitMs milliseconds, more than its own deadline: 9 s unless set
 * @returns what is wrong with how it ended: nothing if the exit code is the expected one
 */
export async function findBadEnding(
  { app, stop }: Pick<Launch, 'app' | 'stop'>,
  expected: number,
  limitMs = 15_000,
): Promise<string[]> {
  const timer = new AbortController()
  const late = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const code = await Promise.race([stop(), late])
  timer.abort()
  if (code === expected) return []
  const how =
    code === 'late' ? `still runs ${limitMs / 1000} s after SIGTERM` : `ended with ${code ?? 'a signal'}`
  return [`${app.name} ${how}; it should end with ${expected}.`]
}
