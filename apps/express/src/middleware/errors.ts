import type { ErrorRequestHandler, RequestHandler } from 'express'
import createError from 'http-errors'
import { BODY_HEADERS, isClientAbort, PROBLEM, toProblem } from '#shared/problem.ts'

export const notFound: RequestHandler = () => {
  throw createError(404)
}

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export const errors: ErrorRequestHandler = (error, request, response, _next) => {
  const isPath = error instanceof URIError && 'status' in error // Express's own, for a path such as /%ff
  const { status, headers, problem, level } = toProblem(isPath ? createError(400) : error)
  if (level && !isClientAbort(error, response)) request.log[level]({ err: error }, 'failed')
  // The client can only learn from a closed connection that its response is incomplete.
  if (response.headersSent) return void response.destroy()
  for (const name of BODY_HEADERS) response.removeHeader(name)
  response.status(status).set(headers).type(PROBLEM).json(problem)
}
