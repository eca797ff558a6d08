import type { ErrorRequestHandler, RequestHandler } from 'express'
import createError from 'http-errors'
import { describeError, PROBLEM_JSON } from '#shared/http/problem.ts'
import { isClientAbort } from '#shared/process/log.ts'

export const notFound: RequestHandler = (_request, _response, next) => {
  next(createError(404))
}

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export const errors: ErrorRequestHandler = (error, request, response, _next) => {
  const { status, headers, problem } = describeError(error)
  const isGone = response.destroyed && isClientAbort(error)
  if (status >= 500 && !isGone) request.log.error({ err: error }, 'failed')
  // The client can only learn from a closed connection that the response is incomplete. Express's own handler would also print the error.
  // If the connection is closed already, the log has the status that was sent, such as the 408 for a slow body.
  if (response.headersSent || request.socket.destroyed) {
    response.destroy()
  } else {
    response.removeHeader('content-encoding') // of a file that was not sent after all
    response.status(status).set(headers).type(PROBLEM_JSON).json(problem)
  }
}
