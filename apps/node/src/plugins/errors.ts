import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { errorStatus, HttpProblem, problem } from '#shared/http/problem.ts'
import { isClientAbort, logFailure } from '#shared/process/log.ts'
import type { Context } from '../context.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function errors(context: Context, error: unknown): void {
  const { response, log, requestId } = context
  const status = errorStatus(error)
  const isDecision = error instanceof HttpProblem
  const isGone = response.destroyed && isClientAbort(error)
  if (status >= 500 && !isDecision && !isGone) logFailure(log, requestId, error)
  // The client can only learn from a closed connection that the response is incomplete.
  if (response.headersSent) response.destroy()
  else context.send(status, PROBLEM_JSON, problem(status, isDecision ? error.errors : undefined))
}
