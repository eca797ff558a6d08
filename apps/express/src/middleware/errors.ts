import type { ErrorRequestHandler, RequestHandler } from 'express'
import createError from 'http-errors'
import type { Logger } from '#shared/log.ts'
import { BODY_HEADERS, PROBLEM, toProblem } from '#shared/problem.ts'

export const notFound: RequestHandler = () => {
  throw createError(404)
}

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function errors(log: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const isPath = error instanceof URIError && 'status' in error // Express's own, for a path such as /%ff
    const { status, headers, problem } = toProblem(isPath ? createError(400) : error)
    // By the client: the body stops, or what waited for it.
    const isLeft = error?.name === 'AbortError' && response.closed
    const isAborted = isLeft || error?.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (status >= 500 && !isAborted) log.error({ requestId: request.id, err: error }, 'failed') // a sub-app has no `request.log`
    // The client can only learn from a closed connection that its response is incomplete.
    if (response.headersSent) return void response.destroy()
    for (const name of BODY_HEADERS) response.removeHeader(name)
    response.status(status).set(headers).type(PROBLEM).json(problem)
  }
}
