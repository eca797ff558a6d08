import type { Middleware, Result } from '../routes.ts'
import { sendProblem } from './errors.ts'

/**
 * 503 for a handler that does not respond in time. Bun would only cut its connection, after `idleTimeout`.
 * @param ms milliseconds
 */
export function limitTime(ms: number): Middleware {
  return (next) => (request, server) => {
    const response = next(request, server)
    if (!(response instanceof Promise)) return response
    const { promise: late, resolve } = Promise.withResolvers<Result>()
    const timer = setTimeout(() => resolve(sendProblem(503, { connection: 'close' })), ms)
    return Promise.race([response, late]).finally(() => clearTimeout(timer))
  }
}
