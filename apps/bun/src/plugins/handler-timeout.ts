import { HttpProblem } from '#shared/http/problem.ts'
import { type Logger, logFailure, withoutQuery } from '#shared/process/log.ts'
import type { Plugin } from '../plugin.ts'
import { targetOf } from './protect.ts'
import { idOf } from './request-id.ts'

/**
 * 503 for a handler that is late. Bun would only cut the connection, after `idleTimeout`, without a response. A handler that responds at
 * once needs no timer. Streams are not covered: Bun closes their connection if nothing was sent for `idleTimeout`.
 */
export function handlerTimeout(limitMs: number, log: Logger): Plugin {
  return (next) => (request, server) => {
    const response = next(request, server)
    if (!(response instanceof Promise)) return response
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const { method } = request
      const silence = `The handler of ${method} ${withoutQuery(targetOf(request))} was silent for ${limitMs} ms.`
      logFailure(log, idOf(request), new Error(silence))
      reject(new HttpProblem(503))
    }, limitMs)
    return Promise.race([response, late]).finally(() => clearTimeout(timer))
  }
}
