import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '@startgrid/grid/launcher.ts'

/**
 * Checks again and again.
 * @param what the missing event, as a phrase for the error
 * @throws {Error} after `seconds`
 */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  seconds = 60,
  everyMs = 20,
): Promise<void> {
  const deadline = Date.now() + seconds * 1_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`After ${seconds} s: ${what}.`)
    await sleep(everyMs)
  }
}

/** Asks as a load balancer does: on a new connection. @returns the status, undefined without a response */
export function statusOf(target: Target, path: string, method = 'GET'): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const asked = request({ ...target, path, method, agent: false, timeout: 5_000 }, (response) => {
    response.resume().once('end', () => resolve(response.statusCode))
    response.once('error', () => resolve(undefined))
  })
  asked
    .once('timeout', () => asked.destroy())
    .once('error', () => resolve(undefined))
    .end()
  return promise
}
