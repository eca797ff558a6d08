import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Checks again and again.
 * @param what the missing event, as a clause for the error
 * @throws {Error} after `seconds`
 */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  seconds = 60,
  everyMs = 20,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`After ${seconds} s: ${what}.`)
    await sleep(everyMs)
  }
}
