import { replaceLate } from '#shared/handler-timeout.ts'
import type { Middleware } from '../routes.ts'
import { sendProblem } from './errors.ts'

/**
 * 503 for a handler that does not respond in time. Bun would only cut its connection, after `idleTimeout`.
 * @param ms milliseconds
 */
export function limitTime(ms: number): Middleware {
  return (next) => (request, server) => {
    const response = next(request, server)
    const replace = () => sendProblem(503, { connection: 'close' })
    return response instanceof Promise ? replaceLate(response, ms, replace) : response
  }
}
