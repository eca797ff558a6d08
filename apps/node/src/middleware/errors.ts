import { BODY_HEADERS, isClientAbort, PROBLEM, toProblem } from '#shared/problem.ts'
import type { Context } from '../context.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function onError(context: Context, error: unknown): void {
  const { response, log } = context
  const { status, headers, problem, level } = toProblem(error)
  if (level && !isClientAbort(error, response)) log[level]({ err: error }, 'failed')
  // The client can only learn from a closed connection that its response is incomplete.
  if (response.headersSent) return void response.destroy()
  for (const name of BODY_HEADERS) response.removeHeader(name)
  response.setHeaders(new Map(Object.entries(headers)))
  context.send(status, PROBLEM, JSON.stringify(problem))
}
