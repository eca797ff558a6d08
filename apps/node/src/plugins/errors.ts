import { HttpProblem } from '#shared/http/http-problem.ts'
import { describeError, PROBLEM_JSON } from '#shared/http/problem.ts'
import { isClientAbort, logFailure } from '#shared/process/log.ts'
import type { Context } from '../context.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function errors(context: Context, error: unknown): void {
  const { response, log, requestId } = context
  const { status, headers, problem } = describeError(error)
  const isGone = response.destroyed && isClientAbort(error)
  // An HttpProblem is a decision, not a failure.
  if (status >= 500 && !isGone && !(error instanceof HttpProblem)) logFailure(log, requestId, error)
  if (response.headersSent) {
    response.destroy() // the client can only learn from a closed connection that the response is incomplete
  } else {
    response.setHeaders(new Map(Object.entries(headers)))
    context.send(status, PROBLEM_JSON, JSON.stringify(problem))
  }
}
