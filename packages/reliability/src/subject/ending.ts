import { setTimeout as sleep } from 'node:timers/promises'
import type { Launch } from '@startgrid/grid/launcher.ts'

/** For `Subject.launch`: more time to drain than the default, which a busy machine may exceed. */
export const PATIENT = { SHUTDOWN_TIMEOUT_MS: '60000' }

/**
 * Sends an app a stop signal, and waits for its end.
 * @param limitMs milliseconds, more than the app's own deadline
 * @returns findings; empty if the exit code is the expected one
 */
export async function findBadEnding(
  { app, stop, output }: Pick<Launch, 'app' | 'stop' | 'output'>,
  expected: number,
  limitMs = 90_000,
): Promise<string[]> {
  const timer = new AbortController()
  const late = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const code = await Promise.race([stop(), late])
  timer.abort()
  if (code === expected) return []
  const how =
    code === 'late' ? `still runs ${limitMs / 1000} s after SIGTERM` : `ended with ${code ?? 'a signal'}`
  const line = output().trim().split('\n').at(-1) ?? ''
  return [`${app.name} ${how}; it should end with ${expected}. Its last line: ${line.slice(0, 300)}`]
}
