import { setTimeout as sleep } from 'node:timers/promises'
import type { Launch } from '@startgrid/grid/launcher.ts'

/**
 * Sends an app a stop signal, and waits for its end.
 * @param limitMs milliseconds, more than the app's own deadline, which is 9 s by default
 * @returns findings; empty if the exit code is the expected one
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
