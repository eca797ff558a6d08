import type { Logger } from '#shared/log.ts'
import { createProblem, isAbort, PROBLEM, toProblem } from '#shared/problem.ts'
import type { Handler, Middleware } from '../routes.ts'
import { idOf } from './request-id.ts'

export const notFound: Handler = () => sendProblem(404)

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function errors(log: Logger): Middleware {
  return (next) => (request, server) => {
    const fail = (err: unknown) => {
      const { status, headers, problem, level } = toProblem(err)
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
