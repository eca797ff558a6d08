import type { Config } from '#shared/config.ts'
import type { Handler } from '../routes.ts'
import { sendProblem } from './errors.ts'

let turnSince: number | undefined

/**
 * For expensive routes: 503 after too long a wait. All requests of a turn of the event loop had arrived when it began, so its age is their wait.
 * `waitsTooLong` is not for Bun, which closes a connection with another request if a handler waits: https://github.com/oven-sh/bun/pull/38128
 */
export function shedLoad({ MAX_QUEUE_WAIT_MS }: Pick<Config, 'MAX_QUEUE_WAIT_MS'>, next: Handler): Handler {
  return (request, server) => {
    const now = performance.now()
    if (turnSince === undefined) {
      turnSince = now
      setImmediate(() => {
        turnSince = undefined
      })
    }
    const isTooLate = MAX_QUEUE_WAIT_MS > 0 && now - turnSince > MAX_QUEUE_WAIT_MS
    return isTooLate ? sendProblem(503, { 'retry-after': '1' }) : next(request, server)
  }
}
