import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '@startgrid/grid/launcher.ts'

/**
 * Looks every 20 ms.
 * @param what that never became true, for the sentence
 * @throws {Error} after 20 s
 */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`After 20 s: ${what}.`)
    await sleep(20)
  }
}

/** As a load balancer asks: on a connection of its own. @returns the status, undefined without an answer */
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
