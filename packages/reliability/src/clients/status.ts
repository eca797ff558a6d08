import { request } from 'node:http'
import type { Target } from '@startgrid/grid/launcher.ts'

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
