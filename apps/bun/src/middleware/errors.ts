import type { Logger } from '#shared/log.ts'
import { createProblem, isAbort, PROBLEM, toProblem } from '#shared/problem.ts'
import type { Handler, Middleware } from '../routes.ts'
import { idOf } from './request-id.ts'

export const notFound: Handler = () => sendProblem(404)

/** Bun's own, of a chunked body, without a code. The client has Bun's 413 by then. */
const TOO_LARGE = 'Request body exceeded maxRequestBodySize'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function errors(log: Logger): Middleware {
  return (next) => (request, server) => {
    const fail = (err: unknown) => {
      const isTooLarge = Object(err).message === TOO_LARGE
      const { status, headers, problem, level } = toProblem(
        err,
        isTooLarge ? { status: 413, expose: true } : {},
      )
      if (level && !isAbort(err, request.signal)) log[level]({ requestId: idOf(request), err }, 'failed')
      return sendProblem(status, headers, problem)
    }
    try {
      const response = next(request, server)
      return response instanceof Promise ? response.catch(fail) : response
    } catch (err) {
      return fail(err)
    }
  }
}

export function sendProblem(
  status: number,
  headers: Record<string, string> = {},
  problem = createProblem(status),
): Response {
  return Response.json(problem, {
    status,
    headers: { 'cache-control': 'no-store', ...headers, 'content-type': PROBLEM },
  })
}
