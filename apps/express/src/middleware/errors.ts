import type { ErrorRequestHandler, RequestHandler, Response } from 'express'
import type { ZodError } from 'zod'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createProblem, errorStatus, type FieldError, HttpProblem } from '#shared/http/problem.ts'
import { isClientAbort } from '#shared/process/log.ts'

export const notFound: RequestHandler = (_request, response) => {
  sendProblem(response, 404)
}

/**
 * Errors are problem details (RFC 9457). The cause of a failure is in the log only. A `ZodError` is a 400 that names the fields, so
 * routes use `schema.parse` for requests only, and `safeParse` for other data.
 */
export const errors: ErrorRequestHandler = (error, request, response, _next) => {
  if (isZodError(error)) {
    sendProblem(response, 400, error.issues.map(toFieldError))
    return
  }
  const status = errorStatus(error)
  const isGone = response.destroyed && isClientAbort(error)
  // An HttpProblem is a decision, not a failure.
  if (status >= 500 && !isGone && !(error instanceof HttpProblem)) request.log.error({ err: error }, 'failed')
  // The client can only learn from a closed connection that the response is incomplete. Express's own handler would also print the error.
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (error?.headers) response.set(error.headers) // of http-errors, such as `www-authenticate`
  sendProblem(response, status, error instanceof HttpProblem ? error.errors : undefined)
}

function sendProblem(response: Response, status: number, fields?: readonly FieldError[]): void {
  response.removeHeader('content-encoding') // of a file that was not sent after all
  response.status(status).type(PROBLEM_JSON).json(createProblem(status, fields))
}

/** Compares the name, because `instanceof` would load Zod (17 MB) into apps that do not use it. */
function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === 'ZodError'
}

function toFieldError({ path, message }: ZodError['issues'][number]): FieldError {
  return { field: path.join('.'), reason: message }
}
