import { type Logger, logFailure, withoutQuery } from '#shared/process/log.ts'
import type { Result } from '../handler.ts'
import { sendProblem } from './errors.ts'
import { targetOf } from './protect.ts'
import { idOf } from './request-id.ts'

/**
 * 503 for a handler that is late, and an end of its connection. Bun would only cut that, after `idleTimeout`, without a response. Streams
 * are not covered: Bun closes their connection if nothing was sent for `idleTimeout`.
 * @param limitMs milliseconds
 */
export function limitTime(
  response: Promise<Result>,
  request: Request,
  limitMs: number,
  log: Logger,
): Promise<Result> {
  const { promise: late, resolve } = Promise.withResolvers<Response>()
  const timer = setTimeout(() => {
    const { method } = request
    const silence = `The handler of ${method} ${withoutQuery(targetOf(request))} was silent for ${limitMs} ms.`
    logFailure(log, idOf(request), new Error(silence))
    resolve(sendProblem(503, { headers: { connection: 'close' } }))
  }, limitMs)
  return Promise.race([response, late]).finally(() => clearTimeout(timer))
}
